/** The version of this package, in one place beside `package.json` (`test/cli-package.test.ts`). */
export const VERSION = '1.0.0'
