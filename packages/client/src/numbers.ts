/** Long integers and decimals, which are texts in answers so that nothing of them is lost. */

export function toBigInt(text: string): bigint {
  return BigInt(text)
}

/** Below 0 where the first is less, above 0 where it is greater; exact, however many digits there are. */
export function compareDecimals(one: string, other: string): number {
  const a = parts(one)
  const b = parts(other)
  const places = Math.max(a.fraction.length, b.fraction.length)
  const difference = scaled(a, places) - scaled(b, places)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

type Parts = { readonly sign: bigint; readonly whole: string; readonly fraction: string }

function parts(text: string): Parts {
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)(\d*)\.?(\d*)$/.exec(text) ?? []
  if (whole + fraction === '') throw new TypeError(`${text} is no decimal`)
  return { sign: sign === '-' ? -1n : 1n, whole, fraction }
}

const scaled = ({ sign, whole, fraction }: Parts, places: number) => sign * BigInt(whole + fraction.padEnd(places, '0'))
