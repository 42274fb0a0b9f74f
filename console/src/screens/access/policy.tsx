/** One policy: what it is called, the rights it gives, and of each collection what may be done with its items. */
import type { MayFail, Policy } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { navigate, pathTo } from '../../app/router.ts'
import { clientOf } from '../../data/client.ts'
import { FILES } from '../../data/files.ts'
import { useQuery } from '../../data/queries.ts'
import { session } from '../../data/session.ts'
import { unsavedAt } from '../../data/unsaved.ts'
import { collectionsQuery, readableQuery, titleIn } from '../../data/workspaces.ts'
import { accessTexts } from '../../messages/access.ts'
import { accountTexts } from '../../messages/account.ts'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Fault, Notice, Skeleton } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { Entries } from '../audit/entries.tsx'
import { Missing } from '../missing.tsx'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'
import styles from './access.module.css'
import { Choices } from './choices.tsx'
import { Confirm } from './confirm.tsx'
import { type Action, actions, type Content, type Grant, grantOf, withGrant } from './content.ts'
import { peopleChanged, policiesQuery } from './data.ts'
import { LimitsDialog } from './limits.tsx'

type EditorProps = { readonly workspace: string; readonly id: string; readonly mayEdit: boolean }

export function PolicyEditor({ workspace, id, mayEdit }: EditorProps) {
  const { data, error, refetch } = useQuery(policiesQuery(workspace))
  const policy = data?.find((one) => one.id === id)
  if (error && !data) return <Fault error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton lines={8} />
  if (policy === undefined && id !== 'new') return <Missing workspace={workspace} />
  return <PolicyForm workspace={workspace} policy={policy} mayEdit={mayEdit} />
}

/** What was typed and is not saved; the others are as the service has them. */
type Draft = { readonly name?: string; readonly description?: string; readonly content?: Content }

type FormProps = { readonly workspace: string; readonly policy: Policy | undefined; readonly mayEdit: boolean }

function PolicyForm({ workspace, policy, mayEdit }: FormProps) {
  const texts = accessTexts.value
  const user = session.value.kind === 'signedIn' ? session.value.user.id : undefined
  const draft = unsavedAt<Draft>(['policy', user, workspace, policy?.id], {})
  const [warnings, setWarnings] = useState<readonly string[]>([])
  const { name = policy?.name ?? '', description = policy?.description ?? '' } = draft.value
  const content = draft.value.content ?? ((policy?.content ?? {}) as Content)
  const type = (typed: Draft) => {
    draft.value = { ...draft.value, ...typed }
  }
  const isChanged = Object.keys(draft.value).length > 0
  const [isReviewed, setReviewed] = useState(false)
  const send = ({ allow }: MayFail = {}) => {
    const body = { name: name.trim(), description: description.trim() || null, content }
    const path = policy === undefined ? 'policies' : `policies/${policy.id}`
    const method = policy === undefined ? 'POST' : 'PATCH'
    return clientOf(workspace).$request<Saved>(method, path, { body, ...(allow && { query: { allow } }) })
  }
  const saved = async ({ data, meta }: Saved) => {
    draft.value = {}
    setReviewed(false)
    setWarnings((meta?.warnings ?? []).map(({ message }) => message))
    showToast(accountTexts.value.saved)
    await peopleChanged(workspace)
    if (policy === undefined) navigate(pathTo(workspace, 'access', 'policies', data.id), 'replace')
  }
  const { fault, isBusy, submit } = useSubmission(async () => {
    // No role has a policy yet that is made, and a name gives nothing.
    if (policy !== undefined && draft.value.content !== undefined) {
      setReviewed(true)
      return undefined
    }
    const answer = await send()
    if (!answer.ok) return faultOf(answer, { 403: texts.exceeds })
    await saved(answer.data)
    return undefined
  })
  const [place, setPlace] = useState<Place>()
  const collections = useCollections(workspace, content)
  const titleOf = (name: string) => collections.find((one) => one.name === name)?.title ?? name
  // A form of the dialog must not be one within this one.
  return (
    <>
      <form class={styles.part} aria-label={texts.policy} onSubmit={submit}>
        <div class={page.head}>
          <h2>{policy?.name ?? texts.newPolicy}</h2>
          {policy && <Entries workspace={workspace} id={policy.id} name={policy.name} />}
        </div>
        {fault && <Notice look="danger">{fault}</Notice>}
        {warnings.map((message) => (
          <Notice key={message} look="warning">
            {message}
          </Notice>
        ))}
        <div class={styles.named}>
          <Field
            label={texts.name}
            required
            maxLength={200}
            readOnly={!mayEdit}
            value={name}
            onValue={(typed) => type({ name: typed })}
          />
          <Field
            label={texts.description}
            isOptional
            readOnly={!mayEdit}
            value={description}
            onValue={(typed) => type({ description: typed })}
          />
        </div>
        <Matrix
          collections={collections}
          content={content}
          mayEdit={mayEdit}
          onAsk={setPlace}
          onContent={(changed) => type({ content: changed })}
        />
        <Choices
          label={texts.entitlements}
          options={Object.entries(texts.entitlement)}
          chosen={content.entitlements ?? []}
          onChosen={(chosen) => type({ content: { ...content, entitlements: chosen } })}
          isDisabled={!mayEdit}
        />
        {mayEdit && (
          <div class={page.row}>
            <Button type="submit" look="primary" isBusy={isBusy}>
              {accountTexts.value.save}
            </Button>
            {isChanged && (
              <Button
                onClick={() => {
                  draft.value = {}
                }}
              >
                {texts.discard}
              </Button>
            )}
          </div>
        )}
      </form>
      {policy && isReviewed && (
        <Confirm
          workspace={workspace}
          title={accountTexts.value.saveOf(policy.name)}
          planned={{ policies: { [policy.id]: { content } } }}
          label={accountTexts.value.save}
          look="primary"
          onConfirm={send}
          onDone={saved}
          onClose={() => setReviewed(false)}
        />
      )}
      {place && (
        <LimitsDialog
          workspace={workspace}
          {...place}
          title={texts.actionOn(texts.does[place.action], titleOf(place.collection))}
          grant={grantOf(content, place.collection, place.action)}
          mayEdit={mayEdit}
          onClose={() => setPlace(undefined)}
          onGrant={(grant) => {
            type({ content: withGrant(content, place.collection, place.action, grant) })
            setPlace(undefined)
          }}
        />
      )}
    </>
  )
}

type Saved = {
  readonly data: { readonly id: string }
  readonly meta?: { readonly warnings?: readonly { readonly message: string }[] }
}

type Named = { readonly name: string; readonly title: string }

/** Those that there are, and what else the policy speaks of and its reader is not shown. */
function useCollections(workspace: string, { collections = {} }: Content): readonly Named[] {
  const { data = [] } = useQuery(collectionsQuery(workspace))
  const { data: readable = [] } = useQuery(readableQuery(workspace))
  const there = data.filter(({ isSystem, name }) => !isSystem || name === FILES).map(({ name }) => name)
  return [...new Set([...there, ...Object.keys(collections)])].map((name) => ({
    name,
    title: name === FILES ? t.value.files.title : titleIn(readable, name),
  }))
}

type Place = { readonly collection: string; readonly action: Action }

type MatrixProps = {
  readonly collections: readonly Named[]
  readonly content: Content
  readonly mayEdit: boolean
  readonly onAsk: (place: Place) => void
  readonly onContent: (content: Content) => void
}

/** So many collections are drawn at once; the filter finds the others. */
const SHOWN = 100

function Matrix({ collections, content, mayEdit, onAsk, onContent }: MatrixProps) {
  const texts = accessTexts.value
  const [text, setText] = useState('')
  const wanted = text.trim().toLowerCase()
  const found = collections.filter(({ name, title }) => `${title} ${name}`.toLowerCase().includes(wanted))
  const choose = (place: Place, how: string) => {
    if (how === 'some') onAsk(place)
    else onContent(withGrant(content, place.collection, place.action, how === 'all' ? 'all' : undefined))
  }
  const cell = ({ name, title }: Named, action: Action) => {
    const grant = grantOf(content, name, action)
    const place = { collection: name, action }
    const label = texts.actionOn(texts.does[action], title)
    return (
      <span class={styles.cell}>
        <select
          class={styles.choice}
          aria-label={label}
          disabled={!mayEdit}
          data-grant={levelOf(grant)}
          value={levelOf(grant)}
          onChange={(event) => {
            const how = event.currentTarget.value
            // It shows what holds, until the dialog says what that is.
            event.currentTarget.value = levelOf(grant)
            choose(place, how)
          }}
        >
          {/* The one that opens a dialog is the last: keys come to all others without it. */}
          {(['none', 'all', 'some'] as const).map((level) => (
            <option key={level} value={level}>
              {texts.levels[level]}
            </option>
          ))}
        </select>
        {grant !== undefined && grant !== 'all' && (
          <Button
            look="plain"
            aria-label={`${texts.limitsOf(label)}: ${limitsText(grant)}`}
            onClick={() => onAsk(place)}
          >
            {limitsText(grant)}
          </Button>
        )}
      </span>
    )
  }
  return (
    <div class={page.stack}>
      <h3>{texts.matrix}</h3>
      {collections.length > 8 && (
        <Field label={t.value.workspace.filter} type="search" value={text} onValue={setText} />
      )}
      <Table
        label={texts.matrix}
        wraps
        rows={found.slice(0, SHOWN)}
        keyOf={({ name }) => name}
        columns={[
          { title: accessTexts.value.collection, cell: ({ title }) => <strong>{title}</strong> },
          ...actions.map((action) => ({
            title: texts.does[action],
            cell: (collection: Named) => cell(collection, action),
          })),
        ]}
      />
    </div>
  )
}

function levelOf(grant: Grant | undefined): 'none' | 'some' | 'all' {
  if (grant === undefined) return 'none'
  return grant === 'all' ? 'all' : 'some'
}

/** In short what limits it. */
function limitsText(grant: Exclude<Grant, 'all'>): string {
  const texts = accessTexts.value
  const { fields, filter, check, validation } = grant
  const parts = [
    fields !== undefined && fields !== '*' && texts.fieldsShort(String(fields.length)),
    filter !== undefined && texts.conditions.filter,
    check !== undefined && texts.conditions.check,
    validation !== undefined && texts.conditions.validation,
  ]
  return parts.filter(Boolean).join(' · ') || texts.levels.all
}
