/** Texts of what becomes of values, which load where types are changed. */
import { values as ar } from './ar/values.ts'
import { values as en } from './en/values.ts'
import { textsIn } from './messages.ts'

export const valuesTexts = textsIn({ en, ar })
