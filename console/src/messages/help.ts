/** Texts of help, which load after the page. */
import { help as ar } from './ar/help.ts'
import { help as en } from './en/help.ts'
import { textsIn } from './messages.ts'

export const help = textsIn({ en, ar })
