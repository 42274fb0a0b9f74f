/** Icons that are offered, and what they show, which load with their picker. */
import { icons as ar } from './ar/icons.ts'
import { icons as en } from './en/icons.ts'
import { textsIn } from './messages.ts'

export const iconTexts = textsIn({ en, ar })
