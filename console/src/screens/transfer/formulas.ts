/**
 * Spreadsheets take what begins so for a formula, which may send what is in the sheet elsewhere; where theirs is another
 * separator than ours, a cell may also begin within a text, there behind quotes as well. One apostrophe more is put before it;
 * what has some already gets one too, so that taking one away gives back what was there.
 */
const FORMULA = /(?:^'*|(?<=[;\t\r\n])["']*)[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\t\r]/g
const GUARDED = /(?:^'('*)|(?<=[;\t\r\n])'(["']*))(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\t\r])/g
/** JSON has no tab and no end of a line, and a semicolon in its texts alone. */
const IN_JSON = /(?<=;)[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/g

/** A text as an export for a spreadsheet has it. */
export function guarded(text: string): string {
  return text.replace(FORMULA, "'$&")
}

/** What it was before. */
export function unguarded(text: string): string {
  return text.replace(GUARDED, '$1$2')
}

/** JSON of the same value, as an export for a spreadsheet has it. */
export function guardedJson(json: string): string {
  return json.replace(IN_JSON, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Whether it is as an export for a spreadsheet has it. */
export function isGuarded(value: unknown): value is string {
  return typeof value === 'string' && unguarded(value) !== value
}
