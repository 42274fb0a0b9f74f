/** How a source is reached: a connection string, single fields or JSON; what is secret is typed or has a name. */
import { useQuery } from '../../data/queries.ts'
import { t } from '../../messages/messages.ts'
import { sourceTexts } from '../../messages/sources.ts'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { secretsQuery } from '../sources/data.ts'
import { type Draft, givens, type Place, providerIn, type Typed } from './config.ts'

type ConfigProps = {
  readonly workspace: string
  readonly draft: Draft
  readonly typed: Typed
  /** Of a database; connectors have configurations of their own. */
  readonly isDatabase: boolean
  readonly isDisabled: boolean
  readonly wrong: readonly [Place, string] | undefined
  readonly onDraft: (draft: Draft) => void
  readonly onTyped: (typed: Typed) => void
}

const MYSQL = /^(mysql|mariadb|planetscale)$/

export function ConfigFields(props: ConfigProps) {
  const { workspace, draft, typed, isDatabase, isDisabled, wrong, onDraft, onTyped } = props
  const texts = sourceTexts.value
  const errorAt = (place: Place) => (wrong?.[0] === place ? { error: wrong[1] } : {})
  const common = { dir: 'ltr', disabled: isDisabled, spellcheck: false, autocomplete: 'off' } as const
  const field = (place: 'host' | 'port' | 'database' | 'user') => ({
    ...common,
    ...errorAt(place),
    value: draft[place],
    onValue: (value: string) => onDraft({ ...draft, [place]: value }),
  })
  const secretly = { workspace, typed, isDisabled, onTyped }
  const { data: secrets = [] } = useQuery(secretsQuery(workspace))
  const named =
    secrets.length === 0 ? '' : ` ${texts.usedSecrets}: ${secrets.map(({ name }) => `\`${name}\``).join(' ')}`
  const isMysql = MYSQL.test(providerIn(draft))
  return (
    <>
      {isDatabase && (
        <Select
          label={texts.given}
          disabled={isDisabled}
          value={draft.given}
          onValue={(given) => onDraft({ ...draft, given })}
          options={givens.map((given) => [given, texts.givens[given]])}
        />
      )}
      {draft.given === 'string' && (
        <Secretly
          {...secretly}
          {...common}
          {...errorAt('connectionString')}
          label={t.value.connect.connectionString}
          hint={t.value.connect.connectionStringText(
            isMysql ? 'mysql://user:password@host:3306' : 'postgres://user:password@host:5432',
          )}
          autofocus
          value={typed.connectionString}
          onValue={(connectionString) => onTyped({ ...typed, connectionString })}
        />
      )}
      {draft.given === 'parts' && (
        <>
          <Field label={texts.host} hint={texts.hostText} required autofocus {...field('host')} />
          <Field
            label={texts.port}
            hint={texts.portText(isMysql ? '3306' : '5432')}
            isOptional
            pattern="[0-9]*"
            {...field('port')}
          />
          <Field
            label={texts.database}
            {...(isMysql ? { isOptional: true, hint: texts.schemasText } : { required: true })}
            {...field('database')}
          />
          <Field label={texts.user} hint={texts.userText} required {...field('user')} />
          <Secretly
            {...secretly}
            {...common}
            {...errorAt('password')}
            label={texts.password}
            value={typed.password}
            onValue={(password) => onTyped({ ...typed, password })}
          />
          <Select
            label={texts.encryption}
            disabled={isDisabled}
            value={draft.encryption}
            onValue={(encryption) => onDraft({ ...draft, encryption })}
            options={[
              ['on', texts.encryptions.on],
              ['off', texts.encryptions.off],
            ]}
            {...errorAt('encryption')}
          />
        </>
      )}
      {draft.given === 'json' && (
        <Field
          {...common}
          {...errorAt('json')}
          label={texts.json}
          hint={(isDatabase ? texts.jsonText : texts.connectorText) + named}
          lines={6}
          value={typed.json}
          onValue={(json) => onTyped({ ...typed, json })}
        />
      )}
    </>
  )
}

type SecretlyProps = Pick<ConfigProps, 'workspace' | 'typed' | 'isDisabled' | 'onTyped'> &
  Omit<Parameters<typeof Field>[0], 'type'>

/** Typed, or by the name of a secret. */
function Secretly({ workspace, typed, isDisabled, onTyped, ...field }: SecretlyProps) {
  const texts = sourceTexts.value
  const { data: secrets = [] } = useQuery(secretsQuery(workspace))
  const isTyped = typed.secret === ''
  return (
    <>
      {secrets.length > 0 && (
        <Select
          label={texts.from(field.label)}
          disabled={isDisabled}
          value={typed.secret}
          onValue={(secret) => onTyped({ ...typed, secret })}
          options={[['', texts.typed], ...secrets.map(({ name }) => [name, name] as const)]}
          {...(!isTyped && field.error !== undefined && { error: field.error })}
        />
      )}
      {isTyped && <Field {...field} type="password" canShow required />}
    </>
  )
}
