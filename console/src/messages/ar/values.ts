/** Texts of what a change of a field does to its values, in Arabic. */
import type { ValuesTexts } from '../en/values.ts'
import type { Translated } from '../translated.ts'

export const values: Translated<ValuesTexts> = {
  becomes: '←',
  renamed: 'إلى',
  kept: 'تبقى كل قيمة كما هي.',
  written: 'تُحفظ كل قيمة وتُكتب نصًّا.',
  refused: 'القيمة التي لا تتّسع لها تمنع التغيير كله. لا تُقرَّب قيمة ولا تُقصّ.',
  read: 'يصبح كل نص القيمةَ التي تقرؤها قاعدة البيانات فيه: 007 يصبح 7. النص الذي لا تستطيع قراءته يمنع التغيير كله.',
  zone: 'تُعدّ الأوقات بتوقيت UTC. الوقت الذي لا يبلغه النوع الجديد يمنع التغيير كله.',
  anew: 'يُنشأ الحقل من جديد، وتضيع قيمه.',
  lossy: 'ستُقرَّب القيم أو تُقصّ، فيُرفض هذا التغيير.',
  nulls: 'الصف الذي لا قيمة له يمنع التغيير كله.',
  relation: {
    columnsMade: (what) => `جديد في قاعدة البيانات: \u2066${what}\u2069.`,
    columnsUsed: (what) => `تستعمل \u2066${what}\u2069، ويبقى كما هو.`,
    columnsStay: (what) => `يبقى \u2066${what}\u2069 بقيمه.`,
    columnsGo: (what) => `يزول \u2066${what}\u2069 بقيمه.`,
    columnChanged: (what) => `يتغيّر في قاعدة البيانات: \u2066${what}\u2069.`,
    indexMade: (what) => `فهرس جديد: \u2066${what}\u2069.`,
    keyMade: (what) => `مفتاح أجنبي جديد: \u2066${what}\u2069.`,
    keyAnew: (what) => `يُنشأ المفتاح الأجنبي من جديد بما يحدث عند الحذف والتغيير: \u2066${what}\u2069.`,
    keyGoes: (what) => `يزول المفتاح الأجنبي: \u2066${what}\u2069.`,
    noKey: () => 'لا مفتاح أجنبي: لا تُلزم بهذه العلاقة أي قاعدة بيانات.',
    modelOnly: () => 'لا يتغيّر إلا النموذج، وتبقى قاعدة البيانات كما هي.',
    tableMade: (what) => `جدول جديد لروابطها: \u2066${what}\u2069، وله مفتاحان أجنبيان.`,
    tableUsed: (what) => `روابطها هي صفوف \u2066${what}\u2069.`,
    tableStays: (what) => `يبقى \u2066${what}\u2069 بصفوفه.`,
    tableGoes: (what) => `يزول \u2066${what}\u2069 بصفوفه.`,
  },
  obstacle: {
    'Value out of range': (field) => `قيم في \u2068${field}\u2069 لا يتّسع لها النوع الجديد`,
    'Null constraint failed': (field) => `قيم ناقصة في \u2068${field}\u2069`,
    'Unique constraint failed': (field) => `قيم في \u2068${field}\u2069 ترد أكثر من مرة`,
    'Foreign key constraint failed': (field) => `قيم في \u2068${field}\u2069 تشير إلى صفوف غير موجودة`,
    'Rows are in the way': (field) => `قيم في \u2068${field}\u2069 تحول دون ذلك`,
  },
  obstacleCount: (what, count) => `${what}: ${count}.`,
  obstacleHidden: (what) => `${what}. لا يُعرف عددها، أو لا يُذكر لك.`,
  obstacleText: 'لم يتغيّر شيء. غيّر هذه القيم أولًا، أو دع هذا التغيير.',
}
