/** Which column of a file becomes which field, until somebody says otherwise. */

type Named = { readonly name: string; readonly title: string }

/** A column becomes the field of its name, or else of its name in other letters, or of its title. */
export function planOf<F extends Named>(names: readonly string[], fields: readonly F[]): ReadonlyMap<string, F> {
  const found = new Map<string, F>()
  const same = (one: string, other: string) => one.trim().toLowerCase() === other.toLowerCase()
  const fits: readonly ((name: string, field: F) => boolean)[] = [
    (name, field) => name === field.name,
    (name, field) => same(name, field.name),
    (name, field) => same(name, field.title),
  ]
  for (const isFit of fits) {
    const taken = new Set(found.values())
    for (const name of names) {
      const field = fields.find((one) => !taken.has(one) && isFit(name, one))
      if (found.has(name) || field === undefined) continue
      found.set(name, field)
      taken.add(field)
    }
  }
  // In the order of the file.
  return new Map(
    names.flatMap((name) => {
      const field = found.get(name)
      return field === undefined ? [] : [[name, field] as const]
    }),
  )
}
