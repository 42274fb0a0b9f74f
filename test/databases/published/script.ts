/** A script of SQL as its statements: what `psql` and `mariadb` do with a file, as far as schemas of others need it. */

/** Throws nothing; comments stay in the statements that they stand in, those between statements are dropped. */
export function statementsOf(script: string): readonly string[] {
  const statements: string[] = []
  let delimiter = ';'
  let start = 0
  let at = 0
  const end = (length: number) => {
    const text = script.slice(start, at).trim()
    if (text.replace(comments, '').trim() !== '') statements.push(text)
    at += length
    start = at
  }
  while (at < script.length) {
    const change = isLineStart(script, at) ? delimiterLine.exec(script.slice(at, at + 80)) : null
    if (change !== null) {
      delimiter = change[1] ?? ';'
      end(change[0].length)
    } else if (script.startsWith(delimiter, at)) {
      end(delimiter.length)
    } else {
      at += tokenLength(script, at)
    }
  }
  end(0)
  return statements
}

/** A comment of MariaDB that begins with `/*!` is code. */
const comments = /--[^\n]*|\/\*(?!!)[\s\S]*?\*\//g
const delimiterLine = /^delimiter\s+(\S+)[^\n]*/i
const quoted = /'(?:[^'\\]|''|\\[\s\S])*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`/y
const plainQuoted = /'(?:[^']|'')*'|"(?:[^"]|"")*"/y
const comment = /--(?=\s|-)[^\n]*|\/\*[\s\S]*?\*\/|#[^\n]*/y
const dollars = /\$((?:[A-Za-z_][A-Za-z_0-9]*)?)\$[\s\S]*?\$\1\$/y
const word = /[A-Za-z_][A-Za-z_0-9$]*/y

function tokenLength(script: string, at: number): number {
  const isMysql = script.includes('`')
  const patterns = isMysql ? [comment, quoted, word] : [dollars, plainComment, plainQuoted, word]
  for (const pattern of patterns) {
    pattern.lastIndex = at
    const [found] = pattern.exec(script) ?? []
    if (found !== undefined) return found.length
  }
  return 1
}

const plainComment = /--[^\n]*|\/\*[\s\S]*?\*\//y

function isLineStart(script: string, at: number): boolean {
  return at === 0 || script[at - 1] === '\n'
}
