/** Another configuration for a source: another password, another host. What is kept is never shown, so all of it is given anew. */
import { useState } from 'preact/hooks'
import { clientOf } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { sourceTexts } from '../../messages/sources.ts'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { showToast } from '../../ui/toasts.tsx'
import {
  configOf,
  type Draft,
  emptyDraft,
  nothingTyped,
  type Place,
  type Typed,
  wrongIn,
} from '../connect-database/config.ts'
import { ConfigFields } from '../connect-database/config-fields.tsx'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'
import { connectorsQuery, type Outline, type Source, sourcesChanged } from './data.ts'
import { useEntitled } from './rights.tsx'

type ConnectionProps = {
  readonly workspace: string
  readonly source: Source
  /** Where it leads so far. */
  readonly outline: Outline
  readonly onClose: () => void
}

export function ChangeConnection({ workspace, source, outline, onClose }: ConnectionProps) {
  const texts = sourceTexts.value
  const { id, apiName, provider } = source
  const mayRead = useEntitled(workspace, 'extension:read')
  const { data: connectors } = useQuery({ ...connectorsQuery(workspace), enabled: mayRead })
  const isDatabase = connectors?.data.find((one) => one.id === provider)?.origin !== 'extension'
  const { host = '', port = '' } = outline
  const [typed, setTyped] = useState<Typed>(nothingTyped)
  const [chosen, setDraft] = useState<Draft>({ ...emptyDraft, choice: provider, host, port: String(port) })
  const [wrong, setWrong] = useState<readonly [Place, string]>()
  const draft: Draft = isDatabase ? chosen : { ...chosen, given: 'json' }
  const { fault, isBusy, submit } = useSubmission(async () => {
    const config = configOf(draft, typed)
    if (config === undefined) {
      setWrong(['json', texts.noObject])
      return undefined
    }
    const answer = await clientOf(workspace).$request('PATCH', `sources/data/${id}`, { body: { config } })
    if (answer.ok) {
      onClose()
      showToast(texts.connectionChanged(apiName))
      await sourcesChanged(workspace)
      return undefined
    }
    const at = wrongIn(answer.error, draft.given)
    setWrong(at)
    if (at !== undefined) return undefined
    return answer.error.messages.includes('Failed to connect to the database') ? texts.away : faultOf(answer)
  })
  return (
    <Dialog title={texts.changeConnectionOf(apiName)} onClose={onClose}>
      <form class={page.stack} onSubmit={submit}>
        {fault && <Notice look="danger">{fault}</Notice>}
        <p>{texts.changeConnectionText}</p>
        <ConfigFields
          workspace={workspace}
          draft={draft}
          typed={typed}
          isDatabase={isDatabase}
          isDisabled={isBusy}
          wrong={wrong}
          onDraft={setDraft}
          onTyped={(next) => {
            setTyped(next)
            setWrong(undefined)
          }}
        />
        <FormActions label={texts.testAndSave} isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
