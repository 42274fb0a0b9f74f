/** The checks of a column that clients can see. */
import type { Check } from '../../model/checks.ts'
import type { SourceColumn } from '../source-schema.ts'

/** Adds the checks that mean the same for the column's values as for the texts and numbers in answers. */
export function withChecks(
  column: SourceColumn,
  found: readonly Check[],
  isExact: (column: SourceColumn) => boolean,
): SourceColumn {
  const { type, isList, native } = column
  if (found.length === 0 || isList || (native !== null && native.scale === undefined)) return column
  const checks = found.filter(({ limits }) =>
    Object.entries(limits).every(([name, value]) => {
      if (/imum$/.test(name))
        return isNumber.test(type.name) || (type.name === 'float32' && isShort.test(String(value)))
      return type.name === 'string' && (name.endsWith('Length') || isExact(column))
    }),
  )
  return checks.length === 0 ? column : { ...column, checks }
}

const isNumber = /^(?:u?int(?:8|16|32|64)|decimal|float64)$/
/** Numbers that 32 bits represent exactly. */
const isShort = /^-?\d{1,7}$/
