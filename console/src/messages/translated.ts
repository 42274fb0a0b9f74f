/** How texts of another language are typed by those in English: the same members, whose functions take the same. */
export type Translated<T> = T extends string
  ? string extends T
    ? string
    : T
  : T extends (...given: infer A) => string
    ? (...given: A) => string
    : T extends readonly string[]
      ? readonly string[]
      : { readonly [K in keyof T]: Translated<T[K]> }

export type Direction = 'ltr' | 'rtl'
