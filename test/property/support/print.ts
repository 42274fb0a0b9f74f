/** A request as a plain object → the query string that spells it, in one of two spellings that mean the same. */
import type { Request, Tree } from './request.ts'

export function printRequest({ fields, deep, ...rest }: Request, { isDotted }: { readonly isDotted: boolean }): string {
  const parameters = [
    ...(fields === undefined
      ? []
      : isDotted
        ? print('fields', fields, isDotted)
        : [`fields=${encoded(fields.join(','))}`]),
    ...print('', rest, isDotted),
    ...(deep === undefined ? [] : print('deep', isDotted ? dotted(deep) : deep, isDotted)),
  ]
  return parameters.join('&')
}

function print(place: string, node: unknown, isDotted: boolean): readonly string[] {
  if (Array.isArray(node)) {
    const isFlat = node.every((one) => typeof one !== 'object')
    return node.flatMap((one, index) => print(`${place}[${isFlat && isDotted ? '' : index}]`, one, isDotted))
  }
  if (typeof node !== 'object' || node === null) return [`${place}=${encoded(String(node))}`]
  return Object.entries(node).flatMap(([name, one]) =>
    print(place === '' ? encoded(name) : `${place}[${spelled(name, isDotted)}]`, one, isDotted),
  )
}

/** The path of a sort, as `author.name` or as `author][name`. */
function spelled(name: string, isDotted: boolean): string {
  return isDotted ? encoded(name) : name.split('.').map(encoded).join('][')
}

function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+')
}

/** `{author: {_limit, posts: {_limit}}}` as `{author: {_limit}, 'author.posts': {_limit}}`. */
function dotted(deep: Tree): Tree {
  const flat: Record<string, Tree> = {}
  for (const [name, part] of Object.entries(deep) as [string, Tree][]) {
    const own = Object.entries(part).filter(([key]) => key.startsWith('_'))
    const deeper = Object.entries(part).filter(([key]) => !key.startsWith('_'))
    if (own.length > 0) flat[name] = Object.fromEntries(own)
    for (const [path, below] of Object.entries(dotted(Object.fromEntries(deeper))))
      flat[`${name}.${path}`] = below as Tree
  }
  return flat
}
