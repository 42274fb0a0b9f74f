/** What is running. */
export const VERSION = '1.0.0'
