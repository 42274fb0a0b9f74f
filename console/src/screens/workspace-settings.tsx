/** What a workspace is called, and its end: for whoever may change either. Loaded after the screen of the workspace. */
import { useState } from 'preact/hooks'
import { navigate } from '../app/router.ts'
import { clientOf, system } from '../data/client.ts'
import { FILES } from '../data/files.ts'
import { type Query, queries, useQuery } from '../data/queries.ts'
import { accessQuery, type Workspace } from '../data/workspaces.ts'
import { accountTexts } from '../messages/account.ts'
import { formatNumber, listed } from '../messages/messages.ts'
import { systemTexts } from '../messages/system.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, FormActions } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { showToast } from '../ui/toasts.tsx'
import { membersQuery } from './access/data.ts'
import page from './page.module.css'
import { importedQuery, OWN, sourcesQuery } from './sources/data.ts'
import { faultOf, useSubmission } from './submission.tsx'
import { Sure } from './system/sure.tsx'
import styles from './system/system.module.css'

type SettingsProps = { readonly workspace: Workspace; readonly mayEdit: boolean; readonly mayDelete: boolean }

export default function WorkspaceSettings({ workspace, mayEdit, mayDelete }: SettingsProps) {
  const texts = systemTexts.value.ofWorkspace
  const [openDialog, setOpenDialog] = useState<'name' | 'end'>()
  const close = () => setOpenDialog(undefined)
  return (
    <section class={page.stack} aria-label={texts.settings}>
      <h2>{texts.settings}</h2>
      <dl class={styles.facts}>
        <dt>{texts.name}</dt>
        <dd>
          <bdi>{workspace.displayName ?? workspace.apiName}</bdi>
        </dd>
        <dt>{texts.address}</dt>
        <dd>
          <code dir="ltr">/api/{workspace.apiName}</code>
        </dd>
      </dl>
      <div class={page.row}>
        {mayEdit && <Button onClick={() => setOpenDialog('name')}>{texts.rename}</Button>}
        {mayDelete && (
          <Button look="risky" onClick={() => setOpenDialog('end')}>
            {texts.delete}
          </Button>
        )}
      </div>
      {openDialog === 'name' && <Renaming workspace={workspace} onClose={close} />}
      {openDialog === 'end' && <Deletion workspace={workspace} onClose={close} />}
    </section>
  )
}

type DialogProps = { readonly workspace: Workspace; readonly onClose: () => void }

function Renaming({ workspace: { id, apiName, displayName }, onClose }: DialogProps) {
  const texts = systemTexts.value.ofWorkspace
  const [name, setName] = useState(displayName ?? '')
  const { fault, isBusy, submit } = useSubmission(async () => {
    const answer = await system.workspaces.update(id, { displayName: name.trim() || null })
    if (!answer.ok) return faultOf(answer)
    await queries.invalidateQueries({ queryKey: ['workspaces'] })
    onClose()
    return undefined
  })
  return (
    <Dialog title={texts.rename} onClose={onClose}>
      <form class={page.stack} onSubmit={submit}>
        {fault && <Notice look="danger">{fault}</Notice>}
        <Field
          label={texts.name}
          hint={texts.nameHint(apiName)}
          isOptional
          autofocus
          maxLength={200}
          value={name}
          onValue={setName}
        />
        <FormActions label={accountTexts.value.save} isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

/** Names what goes with it, as far as one may see it, and what stays. */
function Deletion({ workspace: { id, apiName, displayName }, onClose }: DialogProps) {
  const texts = systemTexts.value.ofWorkspace
  const { data: access } = useQuery(accessQuery(apiName))
  const may = (right: string) => access?.entitlements.includes(right) === true
  const seesSources = may('dataModel:read') && may('dataSource:read')
  const { data: members } = useQuery({ ...membersQuery(apiName), enabled: may('workspaceMembers:read') })
  const { data: sources } = useQuery({ ...sourcesQuery(apiName), enabled: seesSources })
  const { data: collections } = useQuery({ ...importedQuery(apiName), enabled: seesSources })
  const seesFiles = (access?.collections[FILES]?.read ?? 'none') !== 'none'
  const { data: files } = useQuery({ ...fileCountQuery(apiName), enabled: seesFiles })
  const own = sources?.find((one) => one.apiName === OWN)
  const attached = sources?.filter((one) => one !== own) ?? []
  const stored = collections?.filter(({ sourceId }) => sourceId === own?.id)
  return (
    <Sure
      title={texts.deleteOf(displayName ? texts.both(displayName, apiName) : apiName)}
      label={texts.delete}
      typed={apiName}
      onConfirm={() => system.workspaces.delete(id)}
      onDone={() => {
        showToast(texts.deleted(apiName))
        navigate('/', 'replace')
        void queries.invalidateQueries({ queryKey: ['workspaces'] })
      }}
      onClose={onClose}
    >
      <p>{texts.deleteText}</p>
      <ul class={styles.list}>
        <li>{own && stored ? texts.goes.counted(formatNumber(stored.length)) : texts.goes.collections}</li>
        <li>{files === undefined ? texts.goes.files : texts.goes.countedFiles(formatNumber(files))}</li>
        <li>{members ? texts.goes.countedMembers(formatNumber(members.length)) : texts.goes.members}</li>
        <li>{texts.goes.model}</li>
      </ul>
      <p>{attached.length > 0 ? texts.staysOf(listed(attached.map(({ apiName: name }) => name))) : texts.stays}</p>
    </Sure>
  )
}

function fileCountQuery(workspace: string): Query<number> {
  type Counted = { readonly meta: { readonly totalCount: number } }
  const query = { fields: 'id', limit: 1, meta: 'totalCount' }
  return {
    queryKey: ['files', workspace, 'count'],
    queryFn: async () => {
      const { meta } = await clientOf(workspace).$request<Counted>('GET', `items/${FILES}`, { query }).orThrow()
      return meta.totalCount
    },
  }
}
