/**
 * The exit code after an internal error, and after a start that fails, for example because Node.js is too old. No other result
 * has this code. Source: sysexits.h, EX_SOFTWARE.
 */
export const EXIT_BROKEN = 70;
