/** Defines `contrastOf` in a page before its scripts run: the contrast of the text of an element. Source: WCAG 2. */
export function defineContrast() {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).map((channel) => {
      const part = channel / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backgroundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (channels(backgroundColor)[3] !== 0) return backgroundColor;
    }
    return 'rgb(255, 255, 255)';
  };
  globalThis.contrastOf = (element) => {
    const { color, fill } = getComputedStyle(element);
    const text = element.closest('svg') ? fill : color;
    const [dark, light] = [luminance(text), luminance(backgroundOf(element))].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
}
