/** Texts of users, service accounts, sign-in providers, license and settings, which load with their screens. */
import { system as ar } from './ar/system.ts'
import { system as en } from './en/system.ts'
import { textsIn } from './messages.ts'

export const systemTexts = textsIn({ en, ar })
