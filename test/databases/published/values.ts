/** Values for the columns of a schema that nobody here has drawn: extremes and odd texts of the type, or what its checks name. */
import fc, { type Arbitrary } from 'fast-check'
import { dates, decimals, few, hex, instants, text, times, zones } from '../../property/support/types/arbitraries.ts'
import type { ColumnType } from '../../property/support/types/column-type.ts'
import { mariadbTypes } from '../../property/support/types/mariadb.ts'
import { postgresTypes } from '../../property/support/types/postgres.ts'
import type { Column } from './catalog.ts'

/** Draws a text that the type takes; undefined where nothing is known of the type. */
export function postgresValues({ type, hints }: Column): Arbitrary<string> | undefined {
  const [, element] = /^(.*)\[\]$/.exec(type) ?? []
  if (element !== undefined) return few('{}', hints[0] === undefined ? '{NULL}' : `{"${hints[0]}"}`)
  const known = plainly(type, {
    text,
    instants: instants(1, 9999, type.includes('with time zone') ? zones : undefined),
  })
  return known ?? named(postgresTypes, type) ?? (hints.length > 0 ? few(...hints) : undefined)
}

export function mariadbValues({ type, hints }: Column): Arbitrary<string> | undefined {
  if (/^(enum|set)\(/.test(type)) return few(...hints)
  if (type === 'tinyint(1)') return few('0', '1')
  const plain = type.replace(/^(\w*int|year|double|float)\(\d+(?:,\d+)?\)/, '$1')
  const [, binary, size] = /^(binary|varbinary|bit)\((\d+)\)/.exec(plain) ?? []
  if (binary === 'bit') return few('0', '1')
  if (binary !== undefined) return hex({ minLength: 0, maxLength: Math.min(Number(size), 16) }).map(bytes)
  if (/blob$/.test(plain)) return hex({ minLength: 0, maxLength: 40 }).map(bytes)
  if (/^timestamp/.test(plain)) return instants(1971, 2037).map((one) => one.slice(0, 19))
  // A text may be JSON, whose null is written back as none.
  if (/text$/.test(plain)) return text(12).filter((one) => one !== 'null')
  const moments = instants(1, 9999).map((one) => one.slice(0, 19))
  return (
    plainly(plain, { text, instants: moments }) ??
    named(mariadbTypes, plain) ??
    named(mariadbTypes, plain.replace(' unsigned', ''))
  )
}

/** What a strict check may still let pass, where nothing odd did. */
export function tame({ type, hints }: Column): readonly string[] {
  if (/int|numeric|decimal|double|real|float|year/.test(type)) return [...hints, '1', '2', '3', '4', '5', '7', '9']
  if (hints.length > 0) return hints
  if (/^(date|time)/.test(type)) return ['2020-02-29 12:00:00', '2021-03-01 00:00:00']
  const [, size = '40'] = /char(?:acter|acter varying)?\((\d+)\)/.exec(type) ?? []
  return ['1', 'a', '{}', 'A1', 'a@b.cd', '0', '2', 'aa', 'b'].filter((text) => text.length <= Number(size))
}

type Makers = { readonly text: (length: number) => Arbitrary<string>; readonly instants: Arbitrary<string> }

/** Types with a size or a long name. */
function plainly(type: string, makers: Makers): Arbitrary<string> | undefined {
  const [, name = type, first, second = '0'] =
    /^([a-z ]+?)(?:\((\d+)(?:,(\d+))?\))?(?: unsigned)?(?: with(?:out)? time zone)?$/.exec(type) ?? []
  if (/^(character varying|varchar|character|char)$/.test(name)) return makers.text(Math.min(Number(first ?? 12), 20))
  if (/^(numeric|decimal)$/.test(name)) return decimals(...digitsOf(type, first, second))
  if (name === 'date') return dates(1, 9999)
  if (name === 'time') return times.map((one) => one.slice(0, 8))
  if (/^(timestamp|datetime)$/.test(name)) return makers.instants
  return undefined
}

function digitsOf(type: string, first: string | undefined, second: string): [number, number] {
  const scale = Number(second)
  if (first === undefined) return [8, 4]
  return [Math.max(0, Number(first) - scale - (type.includes('unsigned') ? 1 : 0)), scale]
}

function named(types: readonly ColumnType[], name: string): Arbitrary<string> | undefined {
  return types.find((one) => one.name === name)?.values
}

function bytes(one: string): string {
  return `\\x${one}`
}

/** A part of all draws is what checks, labels and bounds of partitions name. */
export function drawn(values: Arbitrary<string> | undefined, { hints }: Column): Arbitrary<string> | undefined {
  if (values === undefined || hints.length === 0) return values
  return fc.oneof({ weight: 1, arbitrary: values }, { weight: 2, arbitrary: few(...hints) })
}
