/**
 * Converts a bundled module to an async function with the same code. The module scope of a Worker may do no I/O, but a
 * connector's may (docs/contract.md#permission-handshake), so its code runs inside the first call. The bundler
 * (node/connectors/extension-bundler.ts) leaves no static import and one export list at the end; other code is refused.
 */
export type Factory = { readonly code: string } | { readonly fault: string }

/** Returns the text of a module that exports `load`, an async function that returns the exports of `code`. */
export function factoryOf(code: string): Factory {
  const { index, names } = readExports(code)
  if (names === undefined) return { fault: 'exports nothing: preflight and setup are missing' }
  const body = code.slice(0, index)
  return { code: `export async function load() {\n${body}\nreturn { ${names} }\n}\n` }
}

function readExports(code: string): { readonly index: number; readonly names: string | undefined } {
  const match = /(?<=^|[\n;])[ \t]*export\s*\{([^{}]*)\};?\s*(?:\/\/# [^\n]*\s*)?$/.exec(code)
  const names = match?.[1]
  if (match === null || names === undefined) return { index: code.length, names: undefined }
  const pairs = names.split(',').flatMap((item) => {
    const [local, exported = local] = item.trim().split(/\s+as\s+/)
    return local === undefined || local === '' ? [] : [`${JSON.stringify(exported)}: ${local}`]
  })
  return { index: match.index, names: pairs.join(', ') }
}
