/** What people call the types of fields, which loads with the screens that name them. */
import { types as ar } from './ar/types.ts'
import { types as en } from './en/types.ts'
import { textsIn } from './messages.ts'

const texts = textsIn({ en, ar })

type Shape = { readonly type: string; readonly isList: boolean }

/** Such as `Whole number` for `int64`. */
export function typeName({ type, isList }: Shape): string {
  const { names, list } = texts.value
  const name = names[type] ?? type
  return isList ? list(name) : name
}
