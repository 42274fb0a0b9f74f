/** Texts of the assistant, which load with it. */
import { assistant as ar } from './ar/assistant.ts'
import { assistant as en } from './en/assistant.ts'
import { textsIn } from './messages.ts'

export const assistantTexts = textsIn({ en, ar })
