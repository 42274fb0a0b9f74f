/** `types`: the module by which the client knows every answer, out of the workspace's model. */
import { resolve } from 'node:path'
import { type ManifestText, writeSchema } from 'governed-data-client/generate'
import { schema } from 'governed-data-client/system'
import type { Call, Command } from '../command.ts'
import { connect, openProject } from '../connection.ts'
import { fileOf } from '../settings.ts'
import { readText, writeText } from '../written-file.ts'

export const types: Command = {
  name: 'types',
  usage: '[--out FILE] [--system] [--check]',
  summary: 'writes the types of the workspace; --check: 2 where the file differs',
  flags: { out: 'value', system: 'switch', check: 'switch' },
  parameters: [],
  async run(call) {
    const { host, values, switches } = call
    const project = await openProject(host, values.env)
    const file = values.out ?? fileOf(project.file, 'types', host.cwd)
    const path = resolve(host.cwd, file)
    const text = await typesText(call)
    if (switches.has('check')) {
      const differs = (await readText(path)) !== text
      return {
        data: { file, differs },
        text: [differs ? `${file} differs: governed types writes it` : `${file} is up to date`],
        state: differs ? 'differs' : 'done',
      }
    }
    const written = await writeText(path, text)
    return { data: { file, written }, text: [written ? `${file} is written` : `${file} is up to date`] }
  },
}

async function typesText({ host, values, switches }: Call): Promise<string> {
  const { db, must } = await connect(host, await openProject(host, values.env))
  const manifest = (await must(schema(db).manifest())) as ManifestText
  return writeSchema(manifest, { system: switches.has('system') })
}
