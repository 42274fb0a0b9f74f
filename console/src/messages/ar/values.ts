/** Texts of what a change of a field does to its values, in Arabic. */
import type { ValuesTexts } from '../en/values.ts'
import type { Translated } from '../translated.ts'

export const values: Translated<ValuesTexts> = {
  kept: 'تبقى كل قيمة كما هي.',
  written: 'تُحفظ كل قيمة وتُكتب نصًّا.',
  refused: 'القيمة التي لا تتّسع لها تمنع التغيير كله. لا تُقرَّب قيمة ولا تُقصّ.',
  read: 'يصبح كل نص القيمةَ التي تقرؤها قاعدة البيانات فيه: 007 يصبح 7. النص الذي لا تستطيع قراءته يمنع التغيير كله.',
  zone: 'تُعدّ الأوقات بتوقيت UTC. الوقت الذي لا يبلغه النوع الجديد يمنع التغيير كله.',
  anew: 'يُنشأ الحقل من جديد، وتضيع قيمه.',
  lossy: 'ستُقرَّب القيم أو تُقصّ، فيُرفض هذا التغيير.',
  nulls: 'الصف الذي لا قيمة له يمنع التغيير كله.',
}
