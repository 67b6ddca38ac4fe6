package almanac

import java.time.LocalDate

const val MOON_CYCLE = 29.53
typealias Phase = Double

sealed interface Event { val day: LocalDate }
data class Sunrise(override val day: LocalDate) : Event
data object Nothing2Report
object Registry { val all = mutableListOf<Event>() }

enum class Season(val months: IntRange) { SPRING(3..5), SUMMER(6..8) }

val today: LocalDate get() = LocalDate.now()
val String.isHoliday: Boolean
    get() = this == "May 1"
private val cache by lazy { HashMap<LocalDate, Phase>() }

fun phaseOf(d: LocalDate): Phase = d.toEpochDay() % MOON_CYCLE

inline fun <reified T : Event> List<T>.firstOn(day: LocalDate) = find { it.day == day }

class Almanac private constructor(private val year: Int) {
    lateinit var author: String
    companion object {
        @JvmStatic fun forYear(y: Int) = Almanac(y)
    }
    suspend fun download() { println(year) }
    fun interface Listener { fun onReady(a: Almanac) }
    val leap get() = year % 4 == 0
}
