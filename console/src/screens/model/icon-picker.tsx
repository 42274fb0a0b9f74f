/** Some of the icons that there are, each found by what it shows. */
import { iconTexts } from '../../messages/icons.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'

type IconPickerProps = { readonly onPick: (icon: string) => void; readonly onClose: () => void }

export default function IconPicker({ onPick, onClose }: IconPickerProps) {
  const { title, find, groups, words } = iconTexts.value
  const options = (Object.keys(groups) as (keyof typeof groups)[]).flatMap((group) =>
    Object.entries(words[group]).map(([icon, text]) => {
      const [name = '', others = ''] = text.split(': ')
      return { id: icon, group: groups[group], label: `${icon} ${name}`, words: others }
    }),
  )
  return (
    <Dialog title={title} onClose={onClose}>
      <Combobox isFirst label={find} placeholder={find} options={options} onChoose={({ id }) => onPick(id)} />
    </Dialog>
  )
}
