/** Which environment of a project somebody works with (`env use`): theirs alone, so it is not in the project's settings. */
import { join } from 'node:path'
import { parseJson, readText, writeText } from './written-file.ts'

/** `settings`: the path of the project's settings. */
export type Used = { readonly home: string; readonly settings: string }

export async function loadUsed({ home, settings }: Used): Promise<string | undefined> {
  return (await loadAll(home)).get(settings)
}

export async function saveUsed({ home, settings }: Used, name: string | undefined): Promise<void> {
  const all = await loadAll(home)
  all.delete(settings)
  if (name !== undefined) all.set(settings, name)
  await writeText(fileIn(home), `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`, { mode: 0o600 })
}

const fileIn = (home: string) => join(home, 'used.json')

async function loadAll(home: string): Promise<Map<string, string>> {
  const text = await readText(fileIn(home))
  return new Map(Object.entries(text === undefined ? {} : (parseJson(fileIn(home), text) as Record<string, string>)))
}
