/** A line of CSV as RFC 4180 has it. */

/** Null is undefined here. */
export function csvLine(cells: readonly (string | undefined)[]): string {
  return `${cells.map((cell) => (cell === undefined ? '' : quoted(cell))).join()}\r\n`
}

function quoted(text: string): string {
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
