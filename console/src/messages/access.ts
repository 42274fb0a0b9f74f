/** Texts about who may do what in a workspace, which load with the screens that have them. */
import { access as ar } from './ar/access.ts'
import { access as en } from './en/access.ts'
import { textsIn } from './messages.ts'

export const accessTexts = textsIn({ en, ar })
