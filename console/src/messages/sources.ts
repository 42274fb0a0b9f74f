/** Texts of data sources, which load with their screens. */
import { sources as ar } from './ar/sources.ts'
import { sources as en } from './en/sources.ts'
import { textsIn } from './messages.ts'

export const sourceTexts = textsIn({ en, ar })
