// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "clock/line.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ringscope::clock {
namespace {

/// Without two moments nothing is known of the drift but what clocks of computers do: they are built to 100
/// millionths, and the kernel slows or hastens them by 500 at most.
constexpr double most_drift = 1e-3;

/// An exchange as a point of the line: at this moment, this offset, right within half of the round trip.
struct Point {
    std::int64_t at_ns, offset_ns, half_ns;
};

Point point_of(const Exchange& e) {
    const std::int64_t middle = e.asked_ns + (e.heard_ns - e.asked_ns) / 2;
    return {middle, e.answered_ns - middle, e.heard_ns - middle};
}

std::vector<Point> shortest(std::span<const Exchange> exchanges) {
    std::vector<Point> points;
    for (const Exchange& e : exchanges) points.push_back(point_of(e));
    const std::int64_t least = std::ranges::min_element(points, {}, &Point::half_ns)->half_ns;
    std::erase_if(points, [&](const Point& p) { return p.half_ns > 2 * least; });
    return points;
}

double mean(const std::vector<Point>& points, std::int64_t Point::*value, std::int64_t from) {
    double sum = 0;
    for (const Point& p : points) sum += static_cast<double>(p.*value - from);
    return sum / static_cast<double>(points.size());
}

/// Slope and height at the last point, without the error.
Line least_squares(const std::vector<Point>& points) {
    const Point& last = points.back();
    const double x = mean(points, &Point::at_ns, last.at_ns);
    const double y = mean(points, &Point::offset_ns, last.offset_ns);
    double xx = 0, xy = 0;
    for (const Point& p : points) {
        const double dx = static_cast<double>(p.at_ns - last.at_ns) - x;
        xx += dx * dx;
        xy += dx * (static_cast<double>(p.offset_ns - last.offset_ns) - y);
    }
    const double drift = xx > 0 ? xy / xx : 0;
    return {.at_ns = last.at_ns, .offset_ns = last.offset_ns + std::llround(y - drift * x), .drift = drift};
}

std::int64_t round_up(double ns) {
    return static_cast<std::int64_t>(std::ceil(ns));
}

}  // namespace

std::int64_t Line::offset_at(std::int64_t reference_ns) const {
    return offset_ns + std::llround(drift * static_cast<double>(reference_ns - at_ns));
}

std::int64_t Line::error_at(std::int64_t reference_ns) const {
    const std::int64_t since = std::max<std::int64_t>(0, reference_ns - at_ns);
    return error_ns + round_up(drift_error * static_cast<double>(since));
}

std::int64_t Line::from_reference(std::int64_t reference_ns) const {
    return reference_ns + offset_at(reference_ns);
}

std::int64_t Line::to_reference(std::int64_t own_ns) const {
    const auto since = static_cast<double>(own_ns - offset_ns - at_ns);
    return own_ns - offset_ns - std::llround(drift / (1 + drift) * since);
}

Line fit(std::span<const Exchange> exchanges) {
    const std::vector<Point> points = shortest(exchanges);
    Line line = least_squares(points);
    constexpr std::int64_t rounding_ns = 1;
    for (const Point& p : points) {
        // The clock's own nanoseconds are not quite those of the reference, of which the half is.
        const std::int64_t half_ns = round_up(static_cast<double>(p.half_ns) * (1 + most_drift));
        const std::int64_t missed_ns = std::abs(p.offset_ns - line.offset_at(p.at_ns));
        line.error_ns = std::max(line.error_ns, half_ns + missed_ns + rounding_ns);
    }
    const std::int64_t span_ns = points.back().at_ns - points.front().at_ns;
    line.drift_error =
        span_ns > 0 ? 2 * static_cast<double>(line.error_ns) / static_cast<double>(span_ns) : most_drift;
    return line;
}

Line compose(const Line& first, const Line& second) {
    constexpr std::int64_t rounding_ns = 2;
    const double first_weight = 1 + std::abs(second.drift) + second.drift_error;
    const double second_weight = 1 + std::abs(first.drift) + first.drift_error;
    Line line{.at_ns = std::max(first.at_ns, first.to_reference(second.at_ns))};
    const std::int64_t between_ns = first.from_reference(line.at_ns);
    line.offset_ns = first.offset_at(line.at_ns) + second.offset_at(between_ns);
    line.drift = first.drift + second.drift + first.drift * second.drift;
    line.error_ns = round_up(first_weight * static_cast<double>(first.error_at(line.at_ns))) +
                    second.error_at(between_ns) + rounding_ns;
    line.drift_error = first_weight * first.drift_error + second_weight * second.drift_error;
    return line;
}

}  // namespace ringscope::clock
