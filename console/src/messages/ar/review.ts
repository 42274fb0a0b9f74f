/** Texts of the review of a dangerous change, in Arabic. */
import type { Messages } from '../en.ts'
import { pluralIn } from '../plural.ts'

const plural = pluralIn('ar')

export const review: Pick<Messages, 'review'> = {
  review: {
    rows: 'الصفوف التي يمسّها',
    hiddenCount: 'صفوف (لا يُذكر لك عددها، أو لا يُعرف)',
    atLeast: (rows) => `أكثر من ${rows}`,
    fate: {
      deleted: (count) => plural(count, { one: 'يُحذف', two: 'يُحذفان', other: 'تُحذف' }),
      reduced: (count) => plural(count, { one: 'يفقد بيانات', two: 'يفقدان بيانات', other: 'تفقد بيانات' }),
      converted: (count) => plural(count, { one: 'يُحوَّل', two: 'يُحوَّلان', other: 'تُحوَّل' }),
      filled: (count) => plural(count, { one: 'يأخذ قيمة جديدة', two: 'يأخذان قيمة جديدة', other: 'تأخذ قيمة جديدة' }),
    },
    breaks: 'ما يعطّله',
    broken: { policies: 'السياسات:', views: 'العروض:', tests: 'اختبارات الوصول:' },
    hidden: 'ما يعطّله غير ذلك لا يُذكر إلا لمن يرى الأشخاص وحقوقهم.',
    inTheWay: 'هذه السياسات تذكر ما سيُحذف. غيّرها أو أزلها أولًا ثم أعد المحاولة.',
    back: {
      data: 'لا يُفقد بهذا التغيير شيء من البيانات، ويمكنك التراجع عنه لاحقًا.',
      made: 'لا يُفقد بهذا التغيير شيء من البيانات. يمكنك التراجع عنه لاحقًا: يزول عندئذ ما أنشأه مع القيم التي كُتبت فيه منذ ذلك.',
      model: 'يمكنك التراجع عن هذا التغيير لاحقًا، لكن البيانات التي يحذفها أو يحوّلها لا تعود كما كانت.',
      nothing: 'لا يمكن التراجع عن هذا التغيير كاملًا.',
    },
    moved: 'تغيّر نموذج البيانات منذ عُرض هذا. هذه هي المراجعة الجديدة؛ انظر إليها مرة أخرى.',
    type: (name) => `للمتابعة اكتب \u2068${name}\u2069`,
  },
}
