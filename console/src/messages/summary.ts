/** Texts of the summary of a collection, which load with it. */
import { summary as ar } from './ar/summary.ts'
import { summary as en } from './en/summary.ts'
import { textsIn } from './messages.ts'

export const summaryTexts = textsIn({ en, ar })
