/**
 * License keys (docs/contract.md#licensing): 25 Crockford base-32 symbols in five groups, the first `M`, the last a
 * Luhn mod 32 check symbol. Parses a typed text into the normal form, or returns the first fault.
 */
export type KeyResult =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'fault'; readonly message: string }

/** Crockford's alphabet, in the order of the symbols' values: no I, L, O and U. */
export const KEY_SYMBOLS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const KEY_LENGTH = 25
const GROUP = 5

/** Messages never repeat the key. */
export function parseLicenseKey(text: string): KeyResult {
  const symbols = plain(text)
  if (symbols === '') return fault('is empty')
  if (!symbols.startsWith('M')) return fault('must begin with the letter M')
  const hasUnexpected = [...symbols].some((symbol) => !KEY_SYMBOLS.includes(symbol))
  if (hasUnexpected) return fault('has a character that is not used in license keys')
  if (symbols.length !== KEY_LENGTH) return fault(`must have ${KEY_LENGTH} symbols, it has ${symbols.length}`)
  const [body, check] = [symbols.slice(0, -1), symbols.slice(-1)]
  if (checkSymbol(body) !== check) return fault('is mistyped: its check symbol is wrong')
  return { kind: 'key', key: grouped(symbols) }
}

/** Completes 24 symbols with the check symbol and dashes. */
export function completeKey(body: string): string {
  return grouped(body + checkSymbol(body))
}

/** Luhn mod 32 of `body`: every second symbol counts double, beginning with the right-most. */
function checkSymbol(body: string): string {
  const sum = [...body].reverse().reduce((total, symbol, index) => total + weighted(rank(symbol), index), 0)
  return KEY_SYMBOLS[(32 - (sum % 32)) % 32] ?? ''
}

function weighted(value: number, index: number): number {
  if (index % 2 === 1) return value
  const double = value * 2
  return double >= 32 ? double - 31 : double
}

function rank(symbol: string): number {
  return KEY_SYMBOLS.indexOf(symbol)
}

/** Corrects common transcription errors. */
function plain(text: string): string {
  return text.trim().toUpperCase().replaceAll('-', '').replaceAll('O', '0').replace(/[IL]/g, '1')
}

function grouped(symbols: string): string {
  return symbols.match(new RegExp(`.{1,${GROUP}}`, 'g'))?.join('-') ?? ''
}

function fault(message: string): KeyResult {
  return { kind: 'fault', message }
}
