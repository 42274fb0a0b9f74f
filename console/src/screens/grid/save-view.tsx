/** Saves what a grid shows under a name, for oneself or, where one may, for a role or everybody. */
import type { ServiceError } from 'governed-data-client'
import { useState } from 'preact/hooks'
import { clientOf } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { userId } from '../../data/session.ts'
import { t } from '../../messages/messages.ts'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Fault } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import page from '../page.module.css'
import type { CollectionModel } from './model.ts'
import { savedLayout, savedQuery, type View } from './request.ts'

type SaveViewProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly view: View
  readonly onClose: () => void
  readonly onSaved: (id: string) => Promise<void>
}

type Made = { readonly data: readonly { readonly id: string }[] }
type Roles = { readonly data: readonly { readonly id: string; readonly name: string }[] }

const ME = 'me'
const EVERYBODY = 'everybody'

export function SaveView({ workspace, model, view, onClose, onSaved }: SaveViewProps) {
  const texts = t.value.views
  const [name, setName] = useState('')
  const [whose, setWhose] = useState(ME)
  const [error, setError] = useState<ServiceError | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const { data: roles = [] } = useQuery({
    queryKey: ['roles', workspace],
    enabled: model.mayShare,
    queryFn: async () => {
      const query = { fields: 'id,name', sort: [{ name: { direction: 'asc' } }], limit: 0 }
      const answer = await clientOf(workspace).$request<Roles>('GET', 'roles', { query })
      return answer.ok ? answer.data.data : []
    },
  })
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy || name.trim() === '') return
    setBusy(true)
    const owner = whose === ME ? { userId: userId.value } : whose === EVERYBODY ? {} : { roleId: whose }
    const body = [
      { name: name.trim(), collectionId: model.id, query: savedQuery(view), layout: savedLayout(view), ...owner },
    ]
    const options = { body, query: { fields: 'id' } }
    const answer = await clientOf(workspace).$request<Made>('POST', 'items/ServiceView', options)
    if (answer.ok) return onSaved(answer.data.data[0]?.id ?? '')
    setBusy(false)
    setError(answer.error)
  }
  return (
    <Dialog title={texts.saveTitle} onClose={onClose}>
      <form class={page.stack} onSubmit={submit}>
        {error && <Fault error={error} />}
        <Field label={texts.name} required autofocus maxLength={200} value={name} onValue={setName} />
        {model.mayShare && (
          <Select
            label={texts.whose}
            value={whose}
            onValue={setWhose}
            options={[
              [ME, texts.onlyMe],
              [EVERYBODY, texts.everybody],
              ...roles.map(({ id, name: role }) => [id, texts.role(role)] as const),
            ]}
          />
        )}
        <p class={page.quiet}>{texts.saveText}</p>
        <FormActions label={t.value.item.save} isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
