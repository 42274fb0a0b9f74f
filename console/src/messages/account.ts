/** Texts of accounts, which load with the screens that have them. */
import { account as ar } from './ar/account.ts'
import { account as en } from './en/account.ts'
import { textsIn } from './messages.ts'

export const accountTexts = textsIn({ en, ar })
