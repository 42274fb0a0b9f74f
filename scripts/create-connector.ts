/** `npm run connector:create NAME`: creates a working connector in `extensions/NAME`, with a passing test. */
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const TEMPLATE = join(import.meta.dirname, 'connector-template')

/** Returns the new folder. Throws an Error that says what to change. */
export async function createConnector(name: string, directory: string): Promise<string> {
  if (!/^[a-z][a-z0-9-]{0,49}$/.test(name)) {
    throw new Error(
      'The name must be lower-case letters, digits and dashes, and begin with a letter: npm run connector:create NAME',
    )
  }
  const folder = join(directory, name)
  await mkdir(directory, { recursive: true })
  await mkdir(folder).catch(() => {
    throw new Error(`${folder} exists already`)
  })
  await cp(TEMPLATE, folder, { recursive: true })
  for (const file of await readdir(folder)) {
    const text = await readFile(join(folder, file), 'utf8')
    await writeFile(join(folder, file), text.replaceAll('my-connector', name))
  }
  return folder
}

if (process.argv[1] === import.meta.filename) {
  const root = join(import.meta.dirname, '..')
  try {
    const folder = await createConnector(process.argv[2] ?? '', join(root, 'extensions'))
    console.log(`Created ${folder}. Test it with: npx vitest run --project extensions ${process.argv[2]}`)
    console.log('It is available as a provider after the next start of the service. See docs/connectors.md')
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
