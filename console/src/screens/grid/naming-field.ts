/** Which field most likely says what an item is, where nobody has said so. */

type Field = {
  readonly name: string
  readonly type: string
  readonly isList: boolean
  readonly values: readonly string[]
  readonly isKey: boolean
  readonly hasDefault: boolean
}

/** Best first. */
const usual = ['name', 'title', 'label', 'displayname', 'fullname', 'email', 'code', 'number', 'reference', 'subject']

/** Such as `order_number` and `companyName`. */
const endings = /(?:name|title|label|number|code|reference)$/

/** A text that tells items apart, or else the key. */
export function namingField<F extends Field>(fields: readonly F[]): F | undefined {
  const texts = fields.filter(({ type, isList, values }) => type === 'string' && !isList && values.length === 0)
  const others = texts.filter(({ isKey }) => !isKey)
  return (
    usual.flatMap((one) => texts.find((field) => plain(field) === one) ?? [])[0] ??
    others.find((field) => endings.test(plain(field))) ??
    // What has a value by itself, such as a state, tells no item from another.
    others.find(({ hasDefault }) => !hasDefault) ??
    fields.find(({ isKey }) => isKey)
  )
}

function plain({ name }: Field): string {
  return name.replaceAll('_', '').toLowerCase()
}
