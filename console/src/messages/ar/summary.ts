/** Texts of the summary of a collection, in Arabic. */
import type { summary as english } from '../en/summary.ts'
import { pluralIn } from '../plural.ts'
import type { Translated } from '../translated.ts'

const plural = pluralIn('ar')

export const summary: Translated<typeof english> = {
  title: (of) => `ملخص \u2068${of}\u2069`,
  settings: 'ما يُلخَّص',
  groupBy: 'التجميع حسب',
  addGroup: 'التجميع حسب حقل',
  unit: 'وحدة الزمن',
  whole: 'القيمة نفسها',
  units: {
    year: 'سنة',
    quarter: 'ربع سنة',
    month: 'شهر',
    week: 'أسبوع',
    day: 'يوم',
    hour: 'ساعة',
    minute: 'دقيقة',
  },
  inUnit: (field, unit) => `\u2068${field}\u2069 (${unit})`,
  utc: (unit) => `${unit}، UTC`,
  function: 'الدالة',
  functions: {
    count: 'العدد',
    countDistinct: 'عدد القيم المختلفة',
    sum: 'المجموع',
    avg: 'المتوسط',
    min: 'الأصغر',
    max: 'الأكبر',
  },
  field: 'لِـ',
  rows: 'الصفوف',
  of: {
    count: (field) => `عدد قيم \u2068${field}\u2069`,
    countDistinct: (field) => `عدد القيم المختلفة من \u2068${field}\u2069`,
    sum: (field) => `مجموع \u2068${field}\u2069`,
    avg: (field) => `متوسط \u2068${field}\u2069`,
    min: (field) => `أصغر \u2068${field}\u2069`,
    max: (field) => `أكبر \u2068${field}\u2069`,
  },
  addMeasure: 'إضافة حساب',
  remove: (what) => `إزالة ${what}`,
  count: (shown, count) =>
    plural(count, {
      zero: 'لا مجموعات',
      one: 'مجموعة واحدة',
      two: 'مجموعتان',
      few: `${shown} مجموعات`,
      other: `${shown} مجموعة`,
    }),
  tooMany: (shown) => `لا تظهر إلا أول ${shown} من المجموعات. استخدم التصفية أو جمّع حسب حقول أقل.`,
}
