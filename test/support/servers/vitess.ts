/**
 * What Vitess and PlanetScale refuse of MySQL, as far as a statement of ours might use it (decision 060): asked of the
 * text, so that a MariaDB behind a gateway takes no more than a database there would. User variables are refused whole,
 * although Vitess keeps constant ones.
 */
import type { SqlFaultDetail } from '../../../src/core/sql/fault.ts'

export type Refusal = { readonly message: string } & Required<Pick<SqlFaultDetail, 'errno' | 'state'>>

/** Undefined for a statement that Vitess passes on. */
export function vitessRefusal(text: string, foreignKeys: 'allowed' | 'forbidden'): Refusal | undefined {
  const statement = text.replace(quoted, ' ? ').trim()
  if (foreignKeys === 'forbidden' && /\bforeign key\b/i.test(statement) && /^(alter|create)\b/i.test(statement)) {
    return { errno: 1317, state: '70100', message: 'VT10001: foreign key constraints are not allowed' }
  }
  const unsupported = refused.find(([pattern]) => pattern.test(statement))
  if (unsupported !== undefined) {
    return { errno: 1235, state: '42000', message: `VT12001: unsupported: ${unsupported[1]}` }
  }
  if (/\b(get|release|release_all|is_free|is_used)_locks?\s*\(/i.test(statement) && !isLockOnly(statement)) {
    return { errno: 1235, state: '42000', message: 'VT12001: unsupported: a lock function is allowed only with dual' }
  }
  return undefined
}

/** Texts, names in backquotes and comments. */
const quoted = /'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*"|`(?:[^`]|``)*`|\/\*[\s\S]*?\*\/|--\s.*$/gm

const refused: readonly (readonly [RegExp, string])[] = [
  [/\bjson_table\b/i, 'JSON_TABLE expressions'],
  [/:=/, 'Assignment expression'],
  [/(?<!@)@(?!@)/, 'user defined variables'],
  [/^set\b.*=(?!\s*(\?|-?[\w.]+)\s*(,|$))/is, 'a computed variable'],
  [/^(create|drop|alter)\s+(or\s+replace\s+)?(definer\s*=\s*\S+\s+)?(trigger|procedure|function|event)\b/i, 'routines'],
  [/^(create|drop|alter)\s+(database|schema)\b/i, 'databases are not created here'],
  [/^(call|do|signal|prepare|execute|deallocate|handler|lock|unlock|load|kill|begin\s+not|declare)\b/i, 'statement'],
  [/\binto\s+(outfile|dumpfile|@)/i, 'INTO'],
  [/\breturning\b/i, 'RETURNING'],
  [/;\s*\S/, 'several statements'],
]

/** `select` of one lock function and nothing else. */
function isLockOnly(statement: string): boolean {
  let flat = statement
  for (let before = ''; flat !== before; ) {
    before = flat
    flat = flat.replace(/(?<=\(.*)\([^()]*\)/s, '')
  }
  return /^select\s+\w+_locks?\s*\([^()]*\)(\s+from\s+dual)?$/i.test(flat)
}
