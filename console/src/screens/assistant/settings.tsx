/** Sets the assistant of a workspace up: which provider, which model, and what it may be told. */
import { useState } from 'preact/hooks'
import { assistantChanged, type LimitName, limitNames, type Settings, settingsQuery } from '../../data/assistant.ts'
import { clientOf } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { assistantTexts } from '../../messages/assistant.ts'
import { formatNumber } from '../../messages/messages.ts'
import { FormActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice, Pending } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { faultOf, useSubmission } from '../submission.tsx'
import styles from './assistant.module.css'

const levels = ['low', 'medium', 'high'] as const

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
  const { mayChooseProvider: mayChoose } = settings
  const [connector, setConnector] = useState(settings.connector ?? 'openai')
  const [address, setAddress] = useState(settings.connectorOptions.address ?? '')
  const [apiKey, setKey] = useState('')
  const [chatModel, setModel] = useState(settings.chatModel ?? '')
  const [fastModel, setFastModel] = useState(settings.fastModel ?? '')
  const [reasoning, setReasoning] = useState<string>(
    settings.chatReasoningEnabled ? (settings.chatReasoningLevel ?? 'medium') : 'none',
  )
  const [dataLevel, setLevel] = useState(settings.dataLevel)
  const [limits, setLimits] = useState<Partial<Record<LimitName, string>>>({})
  // Days begin in UTC.
  const today = settings.usage.find(({ day }) => day === new Date().toISOString().slice(0, 10))
  const { fault, isBusy, submit } = useSubmission(async () => {
    const body = {
      ...(mayChoose && {
        connector,
        connectorOptions: address.trim() === '' ? {} : { address: address.trim() },
        ...(apiKey !== '' && { connectorCredentials: { apiKey } }),
      }),
      chatModel,
      fastModel: fastModel.trim() === '' ? null : fastModel.trim(),
      chatReasoningEnabled: reasoning !== 'none',
      ...(reasoning !== 'none' && { chatReasoningLevel: reasoning }),
      dataLevel,
      limits: Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, Number(value)])),
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
      {!mayChoose && <p class={styles.quiet}>{texts.notYours}</p>}
      {mayChoose && (
        <>
          <Select
            label={texts.provider}
            value={connector}
            onValue={setConnector}
            options={[
              ['openai', texts.providers.openai],
              ['anthropic', texts.providers.anthropic],
            ]}
          />
          <Field
            label={texts.address}
            hint={texts.addressHint}
            dir="ltr"
            value={address}
            onValue={setAddress}
            isOptional
          />
          <Field
            type="password"
            autocomplete="off"
            label={texts.key}
            hint={settings.hasCredentials ? texts.keyKept : texts.keyHint}
            value={apiKey}
            onValue={setKey}
            isOptional
          />
        </>
      )}
      <Field label={texts.model} dir="ltr" value={chatModel} onValue={setModel} required />
      <Field
        label={texts.fastModel}
        hint={texts.fastModelHint}
        dir="ltr"
        value={fastModel}
        onValue={setFastModel}
        isOptional
      />
      <Select
        label={texts.reasoning}
        hint={texts.reasoningHint}
        value={reasoning}
        onValue={setReasoning}
        options={[
          ['none', texts.reasoningLevels.none],
          ...levels.map((level) => [level, texts.reasoningLevels[level]] as const),
          // One that was set by the API.
          ...([...levels, 'none'].some((level) => level === reasoning) ? [] : [[reasoning, reasoning] as const]),
        ]}
      />
      <Select
        label={texts.level}
        value={dataLevel}
        onValue={setLevel}
        options={[
          ['model', texts.levels.model],
          ...(mayChoose || settings.dataLevel === 'rows' ? [['rows', texts.levels.rows] as const] : []),
        ]}
      />
      <details class={styles.limits}>
        <summary>{texts.limits}</summary>
        {limitNames.map((name) => (
          <Field
            key={name}
            label={texts.limitOf[name]}
            pattern="[0-9]{1,9}"
            dir="ltr"
            value={limits[name] ?? String(settings.limits[name])}
            onValue={(value) => setLimits({ ...limits, [name]: value })}
            required
          />
        ))}
      </details>
      <p class={styles.quiet}>
        {texts.usedToday(formatNumber(today?.requests ?? 0), formatNumber(today?.tokens ?? 0))}
      </p>
      <p>
        <a href="/-/docs/assistant#what-leaves-the-service">{texts.more}</a>
      </p>
      <FormActions label={texts.save} isBusy={isBusy} onCancel={onCancel} />
    </form>
  )
}
