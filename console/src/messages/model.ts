/** Texts of the data model, which load with its screens. */
import { model as ar } from './ar/model.ts'
import { model as en } from './en/model.ts'
import { textsIn } from './messages.ts'

export const modelTexts = textsIn({ en, ar })
