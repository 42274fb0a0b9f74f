/** The version of this release. */
export const VERSION = '1.0.0'
