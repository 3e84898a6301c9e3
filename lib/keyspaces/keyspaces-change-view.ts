/** What the change data capture stream of a table holds of each change. */
export enum KeyspacesChangeView {
  /** The row as it is after the change. */
  NEW_IMAGE = 'NEW_IMAGE',
  /** The row as it was before the change. */
  OLD_IMAGE = 'OLD_IMAGE',
  /** The row before and after the change. */
  NEW_AND_OLD_IMAGES = 'NEW_AND_OLD_IMAGES',
  /** The key of the row alone. */
  KEYS_ONLY = 'KEYS_ONLY',
}
