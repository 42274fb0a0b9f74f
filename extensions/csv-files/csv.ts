/** Parses CSV (RFC 4180) into rows of texts. A quoted field may contain the delimiter, line ends and doubled quotes. */
export function parseCsv(text: string, delimiter: string): readonly (readonly string[])[] {
  const rows: string[][] = []
  let row: string[] = []
  let field = ''
  let isQuoted = false
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text
  for (let index = 0; index < source.length; index += 1) {
    const character = source[index]
    if (isQuoted) {
      if (character !== '"') field += character
      else if (source[index + 1] === '"') {
        field += '"'
        index += 1
      } else isQuoted = false
    } else if (character === '"' && field === '') isQuoted = true
    else if (character === delimiter) {
      row.push(field)
      field = ''
    } else if (character === '\n' || character === '\r') {
      if (character === '\r' && source[index + 1] === '\n') index += 1
      rows.push([...row, field])
      row = []
      field = ''
    } else field += character
  }
  if (field !== '' || row.length > 0) rows.push([...row, field])
  return rows.filter((cells) => cells.length > 1 || cells[0] !== '')
}
