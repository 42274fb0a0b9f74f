/** The form of a new workspace; its name in addresses follows its name until it is changed. */
import { useState } from 'preact/hooks'
import { system } from '../data/client.ts'
import { queries } from '../data/queries.ts'
import type { Workspace } from '../data/workspaces.ts'
import { t } from '../messages/messages.ts'
import { FormActions } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import styles from './page.module.css'
import { faultOf, useSubmission } from './submission.tsx'

type NewWorkspaceProps = {
  readonly onCreated: (workspace: Workspace) => void
  readonly onCancel?: () => void
}

export function NewWorkspace({ onCreated, onCancel }: NewWorkspaceProps) {
  const texts = t.value.setUp
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<string>()
  const apiName = chosen ?? addressName(name)
  const { fault, isBusy, submit } = useSubmission(async () => {
    const answer = await system.workspaces.create({ apiName, displayName: name.trim() })
    if (!answer.ok) return faultOf(answer)
    await queries.invalidateQueries({ queryKey: ['workspaces'] })
    onCreated(answer.data)
  })
  return (
    <form class={styles.stack} onSubmit={submit}>
      {fault && <Notice look="danger">{fault}</Notice>}
      <Field label={texts.workspaceName} required autofocus maxLength={200} value={name} onValue={setName} />
      <Field
        label={texts.workspaceApiName}
        hint={texts.workspaceApiNameText}
        required
        dir="ltr"
        pattern="[a-z][a-z0-9_]{0,39}"
        spellcheck={false}
        value={apiName}
        onValue={setChosen}
      />
      <FormActions label={texts.createWorkspace} isBusy={isBusy} onCancel={onCancel} />
    </form>
  )
}

function addressName(name: string): string {
  const letters = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return letters
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '')
    .slice(0, 40)
}
