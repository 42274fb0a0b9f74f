/** Making an API key: for how long, where and for what. It is shown once. */
import { useState } from 'preact/hooks'
import { system } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { collectionsQuery, workspacesQuery } from '../../data/workspaces.ts'
import { accountTexts } from '../../messages/account.ts'
import { systemTexts } from '../../messages/system.ts'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'
import { isNothing, noRights, Scope, type SomeRights } from './scope.tsx'

type NewKeyProps = {
  /** Whose it is. */
  readonly userId: string
  readonly onMade: () => void
  readonly onClose: () => void
}

/** A scope names at most so many collections. */
const MOST_COLLECTIONS = 200

type Lifetime = '30d' | '90d' | '365d' | ''

export function NewKey({ userId, onMade, onClose }: NewKeyProps) {
  const texts = accountTexts.value
  const [made, setMade] = useState<string>()
  return (
    <Dialog title={made === undefined ? texts.newKey : texts.keyMade} onClose={onClose} isWide={made === undefined}>
      {made === undefined ? (
        <KeyForm
          userId={userId}
          onCancel={onClose}
          onMade={(key) => {
            setMade(key)
            onMade()
          }}
        />
      ) : (
        <>
          <p>{texts.keyOnce}</p>
          <ShownOnce text={made} closeLabel={texts.keyKept} onClose={onClose} />
        </>
      )}
    </Dialog>
  )
}

type FormProps = {
  readonly userId: string
  readonly onMade: (key: string) => void
  readonly onCancel: () => void
}

function KeyForm({ userId, onMade, onCancel }: FormProps) {
  const texts = accountTexts.value
  const [name, setName] = useState('')
  const [expiresIn, setExpiresIn] = useState<Lifetime>('90d')
  const [workspace, setWorkspace] = useState('')
  const [rights, setRights] = useState<'all' | 'read' | 'some'>('all')
  const [some, setSome] = useState<SomeRights>(noRights)
  const [addresses, setAddresses] = useState('')
  const { data: workspaces = [] } = useQuery(workspacesQuery())
  const { data: collections = [] } = useQuery({ ...collectionsQuery(workspace), enabled: workspace !== '' })
  const own = collections.filter(({ isSystem }) => !isSystem).map((collection) => collection.name)
  const mayRead = workspace !== '' && own.length > 0 && own.length <= MOST_COLLECTIONS
  const { fault, isBusy, submit } = useSubmission(async () => {
    if (rights === 'some' && isNothing(some)) return systemTexts.value.chooseRights
    const networks = addresses.split(/[\s,]+/).filter(Boolean)
    const scope = {
      ...(workspace !== '' && { workspaces: [workspace] }),
      ...(rights === 'read' && { entitlements: [], collections: reading(own) }),
      ...(rights === 'some' && some),
      ...(networks.length > 0 && { addresses: networks }),
    }
    const isLimited = Object.keys(scope).length > 0
    const key = { name: name.trim(), userId, ...(expiresIn !== '' && { expiresIn }), ...(isLimited && { scope }) }
    const answer = await system.apiKeys.create(key)
    if (!answer.ok) return faultOf(answer)
    onMade(answer.data.key ?? '')
  })
  const everywhere = ['', texts.allWorkspaces] as const
  const choices = [
    ['all', texts.allRights] as const,
    ...(mayRead ? [['read', texts.readOnly] as const] : []),
    ...(workspace === '' ? [] : [['some', systemTexts.value.chosenRights] as const]),
  ]
  return (
    <form class={page.stack} onSubmit={submit}>
      {fault && <Notice look="danger">{fault}</Notice>}
      <Field label={texts.keyName} required autofocus maxLength={200} value={name} onValue={setName} />
      <Select
        label={texts.expires}
        value={expiresIn}
        onValue={setExpiresIn}
        options={(['30d', '90d', '365d', ''] as const).map((one) => [one, texts.lifetimes[one]])}
      />
      <Select
        label={texts.workspace}
        value={workspace}
        onValue={(chosen) => {
          setWorkspace(chosen)
          setRights('all')
          setSome(noRights)
        }}
        options={[everywhere, ...workspaces.map(({ apiName }) => [apiName, apiName] as const)]}
      />
      <Select
        label={texts.rights}
        value={rights}
        onValue={setRights}
        options={choices}
        hint={workspace === '' ? texts.rightsHint : undefined}
      />
      {rights === 'some' && <Scope workspace={workspace} userId={userId} rights={some} onRights={setSome} />}
      <Field
        label={texts.addresses}
        hint={texts.addressesHint}
        isOptional
        dir="ltr"
        spellcheck={false}
        value={addresses}
        onValue={setAddresses}
      />
      <FormActions label={texts.makeKey} isBusy={isBusy} onCancel={onCancel} />
    </form>
  )
}

function reading(names: readonly string[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(names.map((name) => [name, ['read']]))
}
