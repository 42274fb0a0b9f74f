/** `types`: the module by which the client knows every answer, out of the workspace's model. */
import { resolve } from 'node:path'
import { MARK, type ManifestText, type ModelText, writeModelSchema, writeSchema } from 'governed-data-client/generate'
import { schema } from 'governed-data-client/system'
import type { Call, Command } from '../command.ts'
import { connect, openProject } from '../connection.ts'
import { Failure, wrongCall } from '../failure.ts'
import { readModel } from '../model-file.ts'
import { fileOf } from '../settings.ts'
import { readText, writeText } from '../written-file.ts'

export const types: Command = {
  name: 'types',
  usage: '[--model FILE] [--out FILE] [--system] [--check]',
  summary: 'writes the types of the workspace, or of a model file; --check: 2 where the file differs',
  flags: { model: 'value', out: 'value', system: 'switch', check: 'switch' },
  parameters: [],
  async run(call) {
    const { host, values, switches } = call
    const project = await openProject(host, values.env)
    const file = values.out ?? (await fileOf(project.file, 'types', host.cwd))
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
    const written = await writeText(path, text, values.out === undefined ? { replaces: ours } : {})
    return { data: { file, written }, text: [written ? `${file} is written` : `${file} is up to date`] }
  },
}

/** Types that somebody has written by hand stay. */
const ours = { what: 'file that governed types has written', isReplaceable: (text: string) => text.startsWith(MARK) }

async function typesText(call: Call): Promise<string> {
  const { values, switches } = call
  if (values.model !== undefined) return offlineText(call, values.model)
  const { db, must } = await connect(call, await openProject(call.host, values.env))
  const manifest = (await must(schema(db).manifest())) as ManifestText
  return writeSchema(manifest, { system: switches.has('system') })
}

async function offlineText({ host, switches }: Call, file: string): Promise<string> {
  if (switches.has('system')) throw wrongCall('--system is for the service: no file has the collections of the system')
  const model = (await readModel(resolve(host.cwd, file))) as ModelText
  try {
    return writeModelSchema(model)
  } catch (cause) {
    throw new Failure(`${file} is no model file: ${cause instanceof Error ? cause.message : cause}`)
  }
}
