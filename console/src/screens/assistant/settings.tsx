/** Sets the assistant of a workspace up: which provider, which model, and what it may be told. */
import { useState } from 'preact/hooks'
import { assistantChanged, type Settings, settingsQuery } from '../../data/assistant.ts'
import { clientOf } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { assistantTexts } from '../../messages/assistant.ts'
import { FormActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice, Pending } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { faultOf, useSubmission } from '../submission.tsx'
import styles from './assistant.module.css'

type SettingsProps = {
  readonly workspace: string
  readonly onDone: () => void
  readonly onCancel?: (() => void) | undefined
}

export function SettingsForm(props: SettingsProps) {
  const { data, error, refetch } = useQuery(settingsQuery(props.workspace))
  if (data === undefined) return <Pending data={data} error={error} onRetry={() => void refetch()} lines={5} />
  return <Form {...props} settings={data} />
}

function Form({ workspace, settings, onDone, onCancel }: SettingsProps & { readonly settings: Settings }) {
  const texts = assistantTexts.value
  const [connector, setConnector] = useState(settings.connector ?? 'openai')
  const [address, setAddress] = useState(settings.connectorOptions.address ?? '')
  const [apiKey, setKey] = useState('')
  const [chatModel, setModel] = useState(settings.chatModel ?? '')
  const [dataLevel, setLevel] = useState(settings.dataLevel)
  const { fault, isBusy, submit } = useSubmission(async () => {
    const body = {
      connector,
      connectorOptions: address.trim() === '' ? {} : { address: address.trim() },
      ...(apiKey !== '' && { connectorCredentials: { apiKey } }),
      chatModel,
      dataLevel,
    }
    const answer = await clientOf(workspace).$request('PATCH', 'ai/settings', { body })
    if (!answer.ok) return faultOf(answer)
    await assistantChanged(workspace)
    showToast(texts.saved)
    onDone()
    return undefined
  })
  return (
    <form class={styles.form} onSubmit={submit} aria-label={texts.setUp}>
      {fault && <Notice look="danger">{fault}</Notice>}
      <Select
        label={texts.provider}
        value={connector}
        onValue={setConnector}
        options={[
          ['openai', texts.providers.openai],
          ['anthropic', texts.providers.anthropic],
        ]}
      />
      <Field label={texts.address} hint={texts.addressHint} dir="ltr" value={address} onValue={setAddress} isOptional />
      <Field
        type="password"
        autocomplete="off"
        label={texts.key}
        hint={settings.hasCredentials ? texts.keyKept : texts.keyHint}
        value={apiKey}
        onValue={setKey}
        isOptional
      />
      <Field label={texts.model} dir="ltr" value={chatModel} onValue={setModel} required />
      <Select
        label={texts.level}
        value={dataLevel}
        onValue={setLevel}
        options={[
          ['model', texts.levels.model],
          ['rows', texts.levels.rows],
        ]}
      />
      <p>
        <a href="/-/docs/assistant#what-leaves-the-service">{texts.more}</a>
      </p>
      <FormActions label={texts.save} isBusy={isBusy} onCancel={onCancel} />
    </form>
  )
}
