/** Every component in the states that it has, at `/-/components`: to look at, and for the tests of contrast and keys. */
import { ServiceError } from 'governed-data-client'
import { useState } from 'preact/hooks'
import { t } from '../messages/messages.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Combobox } from '../ui/combobox.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { Heading } from '../ui/heading.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { Empty, Fault, Notice, Skeleton } from '../ui/notice.tsx'
import { Select } from '../ui/select.tsx'
import { Table } from '../ui/table.tsx'
import { showToast } from '../ui/toasts.tsx'
import styles from './page.module.css'
import { type Review, ReviewSheet } from './review/sheet.tsx'

const people = [
  { name: 'Ada Lovelace', born: '1815', field: 'Analytical engine' },
  { name: 'محمد بن موسى الخوارزمي', born: '780', field: 'Algebra' },
  { name: 'Emmy Noether', born: '1882', field: 'Rings and ideals' },
]

const nothing = () => {}

const review: Review = {
  changes: [
    { action: 'delete', path: 'people.born' },
    { action: 'rename', path: 'people.fullName', from: 'name', to: 'fullName' },
  ],
  rows: [
    { collection: 'people', rows: 1_000_000, isAtLeast: true, destroys: true },
    { collection: 'fields', rows: 12, destroys: false },
    { collection: 'محركات', rows: null, destroys: false },
  ],
  breaks: {
    policies: [{ id: '1', name: 'Readers' }],
    views: [
      { id: '2', name: 'By age' },
      { id: '3', name: 'حسب الميلاد' },
    ],
    tests: null,
  },
  statements: [
    { sql: 'alter table "service_shop_data"."people" drop column "born"' },
    { sql: 'alter table "service_shop_data"."people" rename column "name" to "full_name"' },
  ],
  back: 'model',
}

export default function Gallery() {
  const [isOpen, setOpen] = useState(false)
  const [isReviewed, setReviewed] = useState(false)
  const [text, setText] = useState('Ada')
  const [chosen, setChosen] = useState(true)
  return (
    <div class={styles.page}>
      <Heading text={t.value.gallery.title} />
      <p class={styles.quiet}>{t.value.gallery.text}</p>

      <h2>Button</h2>
      <div class={styles.row}>
        <Button>Default</Button>
        <Button look="primary">Primary</Button>
        <Button look="danger">Danger</Button>
        <Button look="risky">Risky</Button>
        <Button look="plain">Plain</Button>
        <CopyButton text="Ada" />
        <Button disabled>Disabled</Button>
        <Button isBusy>Busy</Button>
        <Button look="plain" isIcon aria-label="Add">
          <Icon name="add" />
        </Button>
        <ButtonLink href="/">Link</ButtonLink>
      </div>

      <h2>Field</h2>
      <div class={styles.cards}>
        <Field label="Name" value={text} onValue={setText} />
        <Field label="With a hint" hint="Ten characters or more." isOptional value="" onValue={nothing} />
        <Select
          label="One of a few"
          hint="Chosen from a list."
          value="b"
          onValue={nothing}
          options={[
            ['a', 'First'],
            ['b', 'Second'],
          ]}
        />
        <Field label="With a fault" error="This is not an address." value="ada@" onValue={nothing} />
      </div>

      <h2>Menu, dialog, toast</h2>
      <div class={styles.row}>
        <Menu
          label="Columns"
          items={[
            { kind: 'title', label: 'Shown' },
            { kind: 'choice', label: 'Name', isChosen: chosen, onSelect: () => setChosen(!chosen) },
            { kind: 'line' },
            { kind: 'action', label: 'Reset', onSelect: nothing },
          ]}
        />
        <Button onClick={() => setOpen(true)}>Open a dialog</Button>
        <Button onClick={() => setReviewed(true)}>Open a review</Button>
        <Button onClick={() => showToast('Three rows were saved.')}>Good news</Button>
        <Button onClick={() => showToast('The rows could not be saved.', 'danger')}>Bad news</Button>
      </div>
      {isReviewed && (
        <ReviewSheet
          title="Change the data model"
          review={review}
          label="Apply"
          typed="people"
          onConfirm={() => setReviewed(false)}
          onClose={() => setReviewed(false)}
        />
      )}
      {isOpen && (
        <Dialog title="Delete three rows?" onClose={() => setOpen(false)}>
          <p>They can be brought back by undoing.</p>
          <DialogActions>
            <Button onClick={() => setOpen(false)}>{t.value.common.cancel}</Button>
            <Button look="danger" onClick={() => setOpen(false)}>
              Delete
            </Button>
          </DialogActions>
        </Dialog>
      )}

      <h2>Combobox</h2>
      <Combobox
        label="Person"
        placeholder="Find somebody"
        options={people.map(({ name, born }) => ({
          id: name,
          label: name,
          group: 'People',
          detail: born,
          ...(born === '780' && { refusal: 'Only administrators may' }),
        }))}
        onChoose={({ label }) => showToast(label)}
      />

      <h2>Table</h2>
      <Table
        label="People"
        columns={[
          { title: 'Name', cell: ({ name }) => name },
          { title: 'Born', cell: ({ born }) => born },
          { title: 'Field', cell: ({ field }) => field },
        ]}
        rows={people}
        keyOf={({ name }) => name}
      />

      <h2>Notice</h2>
      <div class={styles.stack}>
        <Notice>Nothing has changed.</Notice>
        <Notice look="good">The password was changed.</Notice>
        <Notice look="warning">The license expires in 12 days.</Notice>
        <Fault error={new ServiceError(0, { code: 'network' })} onRetry={nothing} />
      </div>

      <h2>Skeleton</h2>
      <Skeleton lines={4} />

      <h2>Empty</h2>
      <Empty title="No collections yet" text="Connect a database or add sample data to see rows here.">
        <Button look="primary">Connect a database</Button>
      </Empty>
    </div>
  )
}
