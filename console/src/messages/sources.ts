/** Texts of data sources in the language of the page. They load with the screens that have them, in all languages. */
import { computed } from '@preact/signals'
import { sources as ar } from './ar/sources.ts'
import { sources as en } from './en/sources.ts'
import { type Language, language } from './messages.ts'

const all: Readonly<Record<Language, typeof en | typeof ar>> = { en, ar }

export const sourceTexts = computed(() => all[language.value])
