/** The language of the page: its texts and how it writes numbers, times and lists. Others than English load when chosen. */
import { computed, effect, signal } from '@preact/signals'
import { en, type Messages } from './en.ts'
import type { Translated } from './translated.ts'

export type Language = 'en' | 'ar'

const load: Readonly<Record<Language, () => Promise<Messages>>> = {
  en: async () => en,
  ar: async () => (await import('./ar.ts')).ar,
}

/** As each language calls itself. */
export const languages: readonly (readonly [Language, string])[] = [
  ['en', en.languageName],
  ['ar', 'العربية'],
]

const STORED = 'console.language'

const current = signal<{ readonly language: Language; readonly texts: Messages }>({ language: 'en', texts: en })

/** The texts: `t.value.signIn.title`. What reads it in a component is drawn again in another language. */
export const t = computed(() => current.value.texts)

/** Texts of some screens only, which load with them, in all languages. */
export function textsIn<T>(of: { readonly en: T; readonly ar: Translated<T> }) {
  return computed((): T | Translated<T> => of[current.value.language])
}

export const language = computed(() => current.value.language)

/** What `Intl` takes: the browser's own variant of the language, such as `en-GB`. Digits are those of all other values. */
const locale = computed(() => {
  const name = navigator.languages.find((one) => isVariant(one, language.value)) ?? language.value
  return new Intl.Locale(name, { numberingSystem: 'latn' }).toString()
})

/** Browsers may say what is no name of a language, such as `en-US@posix`. */
function isVariant(name: string, of: Language): boolean {
  try {
    return new Intl.Locale(name).language === of
  } catch {
    return false
  }
}

export async function chooseLanguage(chosen: Language): Promise<void> {
  current.value = { language: chosen, texts: await load[chosen]() }
  localStorage.setItem(STORED, chosen)
}

/** Resolves when the texts are there; without the others it is English. */
export async function startMessages(): Promise<void> {
  const wanted = localStorage.getItem(STORED) ?? navigator.languages.map((name) => name.slice(0, 2)).find(isLanguage)
  if (wanted && isLanguage(wanted) && wanted !== 'en') {
    current.value = { language: wanted, texts: await load[wanted]().catch(() => en) }
  }
  effect(() => {
    document.documentElement.lang = language.value
    document.documentElement.dir = t.value.direction
  })
}

function isLanguage(name: string): name is Language {
  return name in load
}

export function formatNumber(value: number, options?: Intl.NumberFormatOptions): string {
  return new Intl.NumberFormat(locale.value, options).format(value)
}

export function formatTime(instant: string | number, options?: Intl.DateTimeFormatOptions): string {
  const shown = options ?? { dateStyle: 'medium', timeStyle: 'short' }
  return new Intl.DateTimeFormat(locale.value, shown).format(new Date(instant))
}

export function formatSeconds(seconds: number): string {
  return formatNumber(seconds, { style: 'unit', unit: 'second', unitDisplay: 'long' })
}

type WithWeeks = Intl.Locale & { getWeekInfo?(): { readonly firstDay: number } }

/** The day that weeks begin with where the language is of, 1 for Monday and 7 for Sunday. */
export function firstWeekday(): number {
  return (new Intl.Locale(locale.value) as WithWeeks).getWeekInfo?.().firstDay ?? 1
}

/** Such as `a, b, and c`: what stands between the values, too. */
export function listParts(values: readonly string[]): readonly { readonly isValue: boolean; readonly text: string }[] {
  const parts = new Intl.ListFormat(locale.value).formatToParts(values)
  return parts.map(({ type, value }) => ({ isValue: type === 'element', text: value }))
}

/** Names one after the other, as they are: `a, b`. */
export function listed(names: readonly string[]): string {
  return names.join(t.value.common.comma)
}

/** Such as `in 12 days`. */
export function formatDays(days: number): string {
  return new Intl.RelativeTimeFormat(locale.value, { numeric: 'auto' }).format(days, 'day')
}

/** Compares names as readers of this language expect. */
export function compareNames(one: string, other: string): number {
  return one.localeCompare(other, locale.value, { numeric: true })
}
