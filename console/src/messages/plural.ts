/** The form of a text that goes with a number, as each language has them. */
type Forms = { readonly [form in Intl.LDMLPluralRule]?: string } & { readonly other: string }

export function pluralIn(language: string): (count: number, forms: Forms) => string {
  const rules = new Intl.PluralRules(language)
  return (count, forms) => forms[rules.select(count)] ?? forms.other
}
