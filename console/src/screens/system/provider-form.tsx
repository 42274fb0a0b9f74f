/** All that is told of a sign-in provider, and the address to register there. Its secret is written and never shown. */
import { useState } from 'preact/hooks'
import { system } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { userId } from '../../data/session.ts'
import { unsavedAt } from '../../data/unsaved.ts'
import { workspacesQuery } from '../../data/workspaces.ts'
import { systemTexts } from '../../messages/system.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { FormActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { rolesQuery } from '../access/data.ts'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'
import { settingsQuery, systemChanged } from './data.ts'
import { bodyOf, endpoints, hasIssuer, isMoved, type ProviderForm, type ProviderKind } from './presets.ts'
import { faultMessageOf } from './sure.tsx'
import styles from './system.module.css'

type EditorProps = {
  readonly kind: ProviderKind
  /** As it is, or what is known of its kind. */
  readonly before: ProviderForm
  readonly isNew: boolean
  readonly onSaved: (name: string) => void
}

type FieldName = { [K in keyof ProviderForm]: ProviderForm[K] extends string ? K : never }[keyof ProviderForm]

export function ProviderEditor({ kind, before, isNew, onSaved }: EditorProps) {
  const texts = systemTexts.value
  const draft = unsavedAt<Partial<ProviderForm>>(['provider', userId.value, isNew ? kind : before.name], {})
  // A secret is kept nowhere.
  const [clientSecret, setSecret] = useState('')
  const form = { ...before, ...draft.value, clientSecret }
  const set = (change: Partial<ProviderForm>) => {
    draft.value = { ...draft.value, ...change }
  }
  const forget = () => {
    draft.value = {}
    setSecret('')
  }
  const of = (name: FieldName) => ({ value: form[name], onValue: (value: string) => set({ [name]: value }) })
  const needsSecret = isNew || isMoved(form, before)
  const { fault, isBusy, submit } = useSubmission(async () => {
    if (form.workspace !== '' && form.roleId === '') return texts.chooseRole
    if (needsSecret && form.clientSecret === '') return texts.secretAgain
    const body = bodyOf(form, kind)
    const { name, clientId } = form
    const answer = await (isNew
      ? system.providers.create({ ...body, name, clientId, clientSecret })
      : system.providers.update(name, body))
    if (!answer.ok) return answer.status === 409 ? faultMessageOf(answer) : faultOf(answer)
    await systemChanged()
    forget()
    onSaved(name)
    return undefined
  })
  const address = { required: true, dir: 'ltr', autocomplete: 'off', spellcheck: false } as const
  return (
    <form class={styles.form} onSubmit={submit}>
      {fault && <Notice look="danger">{fault}</Notice>}
      {isNew && (
        <Field
          label={texts.providerName}
          hint={texts.providerNameHint}
          {...address}
          pattern="[a-z][a-z0-9\-]{0,39}"
          {...of('name')}
        />
      )}
      <Callback name={form.name} />
      {hasIssuer(kind) && <Field label={texts.issuer} {...address} {...of('issuer')} />}
      {!hasIssuer(kind) &&
        endpoints.map((endpoint) => (
          <Field
            key={endpoint}
            label={texts.endpoints[endpoint]}
            {...address}
            required={endpoint !== 'emailsEndpoint'}
            isOptional={endpoint === 'emailsEndpoint'}
            {...of(endpoint)}
          />
        ))}
      <Field label={texts.clientId} {...address} {...of('clientId')} />
      <Field
        label={texts.clientSecret}
        type="password"
        hint={isNew ? texts.secretHint : needsSecret ? texts.secretAgain : texts.keepSecret}
        dir="ltr"
        autocomplete="off"
        required={needsSecret}
        value={clientSecret}
        onValue={setSecret}
      />
      <Field label={texts.scopes} hint={texts.scopesHint} {...address} required={hasIssuer(kind)} {...of('scopes')} />
      {!hasIssuer(kind) && (
        <Select
          label={texts.authentication}
          value={form.clientAuthentication}
          onValue={(clientAuthentication) => set({ clientAuthentication })}
          options={[
            ['basic', texts.authentications.basic],
            ['post', texts.authentications.post],
          ]}
        />
      )}
      <details>
        <summary>{texts.claims}</summary>
        <div class={page.stack}>
          {!hasIssuer(kind) && <Field label={texts.claim.subject} {...address} {...of('subject')} />}
          <Field label={texts.claim.email} {...address} {...of('email')} />
          <Field label={texts.claim.emailVerified} {...address} {...of('emailVerified')} />
        </div>
      </details>
      <AutoJoin form={form} onForm={set} />
      <Checkbox label={texts.enabled} isChecked={form.enabled} onCheck={(enabled) => set({ enabled })} />
      <FormActions
        label={isNew ? texts.addProvider : texts.save}
        isBusy={isBusy}
        onCancel={Object.keys(draft.value).length > 0 ? forget : undefined}
      />
    </form>
  )
}

/** The provider sends people back to where the service is for everybody. */
function Callback({ name }: { readonly name: string }) {
  const texts = systemTexts.value
  const { data = [] } = useQuery(settingsQuery())
  const base = data.find((one) => one.name === 'SERVICE_BASE_URL')?.value ?? location.origin
  const callback = `${base}/api/auth/providers/${name}/callback`
  return (
    <div class={page.stack}>
      <h3>{texts.callback}</h3>
      <p class={page.quiet}>{texts.callbackHint}</p>
      {name !== '' && (
        <div class={styles.address}>
          <code dir="ltr">{callback}</code>
          <CopyButton text={callback} isSecondary />
        </div>
      )}
    </div>
  )
}

type AutoJoinProps = { readonly form: ProviderForm; readonly onForm: (change: Partial<ProviderForm>) => void }

function AutoJoin({ form: { workspace, roleId }, onForm }: AutoJoinProps) {
  const texts = systemTexts.value
  const { data: workspaces = [] } = useQuery(workspacesQuery())
  const { data: roles = [] } = useQuery({ ...rolesQuery(workspace), enabled: workspace !== '' })
  const names = [...new Set([...(workspace === '' ? [] : [workspace]), ...workspaces.map(({ apiName }) => apiName)])]
  // Otherwise everybody with an account at the provider would be Administrator.
  const joinable = roles.filter(({ kind }) => kind === 'custom')
  return (
    <>
      <Select
        label={texts.autoJoin}
        value={workspace}
        onValue={(chosen) => onForm({ workspace: chosen, roleId: '' })}
        options={[['', texts.nobodyJoins] as const, ...names.map((name) => [name, name] as const)]}
      />
      {workspace !== '' && (
        <Select
          label={texts.autoRole}
          value={roleId}
          onValue={(chosen) => onForm({ roleId: chosen })}
          error={roleId === '' ? texts.chooseRole : undefined}
          options={[['', ''] as const, ...joinable.map(({ id, name }) => [id, name] as const)]}
        />
      )}
    </>
  )
}
