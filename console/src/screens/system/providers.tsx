/** Sign-in providers: which there are, and one that is added, changed, tried or deleted. */
import type { Provider } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { placePath } from '../../app/places.ts'
import { address, navigate } from '../../app/router.ts'
import { instance, system } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import type { User } from '../../data/session.ts'
import { formatTime } from '../../messages/messages.ts'
import { systemTexts } from '../../messages/system.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Empty, Pending } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { Section } from '../account/section.tsx'
import { Entries } from '../audit/entries.tsx'
import { Missing } from '../missing.tsx'
import page from '../page.module.css'
import { providersQuery, requestOf, systemChanged } from './data.ts'
import { SystemPage } from './page.tsx'
import { formOf, kindOf, kinds, type ProviderKind, presets } from './presets.ts'
import { ProviderEditor } from './provider-form.tsx'
import { Sure } from './sure.tsx'
import styles from './system.module.css'

export default function Providers({ user }: { readonly user: User }) {
  const { searchParams } = address.value
  const name = searchParams.get('name')
  return (
    <SystemPage at="providers" user={user} request={requestOf('providers', 'providers.list')}>
      {searchParams.has('new') && <NewProvider />}
      {name !== null && <OneProvider key={name} name={name} />}
      {name === null && !searchParams.has('new') && <ProviderList />}
    </SystemPage>
  )
}

function ProviderList() {
  const texts = systemTexts.value
  const { data, error, refetch } = useQuery(providersQuery())
  const add = (
    <ButtonLink look="primary" href="/-/providers?new">
      {texts.newProvider}
    </ButtonLink>
  )
  return (
    <>
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={4} />
      {data?.length === 0 && (
        <Empty title={texts.noProviders} text={texts.noProvidersText}>
          {add}
        </Empty>
      )}
      {data && data.length > 0 && (
        <>
          <div class={page.row}>{add}</div>
          <Table
            label={texts.allProviders}
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              { title: texts.name, cell: ({ name }) => <a href={placePath('providers', { name })}>{name}</a> },
              { title: texts.kind, cell: (one) => texts.kinds[kindOf(one)] },
              { title: texts.status, cell: ({ enabled }) => (enabled ? texts.on : texts.off) },
              { title: texts.autoJoin, cell: ({ autoJoin }) => autoJoin?.workspace ?? texts.nobody },
              { title: texts.since, cell: ({ createdAt }) => formatTime(createdAt, { dateStyle: 'medium' }) },
            ]}
          />
        </>
      )}
    </>
  )
}

function Back() {
  return (
    <p class={page.quiet}>
      <a href="/-/providers">{systemTexts.value.allProviders}</a>
    </p>
  )
}

function NewProvider() {
  const texts = systemTexts.value
  const [kind, setKind] = useState<ProviderKind>('google')
  return (
    <>
      <Back />
      <Section title={texts.newProvider}>
        <div class={styles.line}>
          <Select
            label={texts.kind}
            hint={texts.kindHints[kind]}
            value={kind}
            onValue={setKind}
            options={kinds.map((one) => [one, texts.kinds[one]])}
          />
        </div>
        <ProviderEditor
          key={kind}
          kind={kind}
          before={presets[kind]}
          isNew
          onSaved={(name) => navigate(placePath('providers', { name }), 'replace')}
        />
      </Section>
    </>
  )
}

function OneProvider({ name }: { readonly name: string }) {
  const { data, error, refetch } = useQuery(providersQuery())
  const provider = data?.find((one) => one.name === name)
  if (data !== undefined && provider === undefined) return <Missing />
  return (
    <>
      <Back />
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={6} />
      {provider && <Shown provider={provider} />}
    </>
  )
}

function Shown({ provider }: { readonly provider: Provider }) {
  const texts = systemTexts.value
  const { id, name, enabled } = provider
  const [isDeleting, setDeleting] = useState(false)
  return (
    <>
      <Section title={name} text={texts.kinds[kindOf(provider)]} action={<Entries id={id} name={name} />}>
        <ProviderEditor
          kind={kindOf(provider)}
          before={formOf(provider)}
          isNew={false}
          onSaved={() => showToast(texts.saved)}
        />
      </Section>
      <Section title={texts.tryIt} text={enabled ? texts.trySignInText : texts.offText}>
        {enabled && (
          <div class={page.row}>
            <ButtonLink href={instance.$auth.providerUrl(name, `${location.origin}/`)} target="_blank" rel="noreferrer">
              {texts.trySignIn}
            </ButtonLink>
          </div>
        )}
      </Section>
      <Section title={texts.delete} text={texts.deleteProviderText}>
        <div class={page.row}>
          <Button look="risky" onClick={() => setDeleting(true)}>
            {texts.deleteOf(name)}
          </Button>
        </div>
      </Section>
      {isDeleting && (
        <Sure
          title={texts.deleteOf(name)}
          label={texts.delete}
          typed={name}
          onConfirm={() => system.providers.delete(name)}
          onDone={() => {
            showToast(texts.deleted(name))
            navigate('/-/providers', 'replace')
            void systemChanged()
          }}
          onClose={() => setDeleting(false)}
        >
          <p>{texts.deleteProviderText}</p>
        </Sure>
      )}
    </>
  )
}
